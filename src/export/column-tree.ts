import { type ColumnPath, childPath, keysOf, REST_PATH, ROOT_PATH } from './column-path.ts';
import {
  CLOSE_BRACE,
  COLON,
  COMMA,
  endOfNested,
  endOfScalar,
  endOfString,
  endOfValue,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
  skipSpace,
  stringAt,
} from './json-text.ts';
import { DamagedRecordError } from './rows.ts';

/** Kinds of a value that is a cell of its own, told by how it is written. */
export const STRING = 0;
export const NUMBER = 1;
export const LITERAL = 2;
/** An array, {}, or an object deeper than columns go: its JSON text. */
export const NESTED = 3;
export type CellKind = typeof STRING | typeof NUMBER | typeof LITERAL | typeof NESTED;

// Deeper objects stay JSON text: a hostile response must not make a path of a million keys.
const DEEPEST = 32;

/** A key, or the whole record at the root. */
export class ColumnNode {
  readonly path: ColumnPath;
  /** Its place among its parent's keys. */
  readonly index: number;
  /** How its key is written when nothing but it and a colon stand there. */
  readonly rawKey: string;
  /** Its column; -1 while it is none (never seen, or only seen as an object). */
  column = -1;
  /** An object here is a cell of its own. */
  isWhole = false;
  readonly children: ColumnNode[] = [];
  readonly #byKey = new Map<string, ColumnNode>();

  constructor({ path, index, key }: { path: ColumnPath; index: number; key: string }) {
    this.path = path;
    this.index = index;
    this.rawKey = `${JSON.stringify(key)}:`;
  }

  child(key: string): ColumnNode | undefined {
    return this.#byKey.get(key);
  }

  addChild(key: string): ColumnNode {
    const child = new ColumnNode({ path: childPath(this.path, key), index: this.children.length, key });
    this.children.push(child);
    this.#byKey.set(key, child);
    return child;
  }
}

/** What a walk reports. Places are of the JSON text it walks. */
export interface CellVisitor {
  /** A cell; its column may be -1. Of a string `start` and `end` are its quotes, else the end is exclusive. */
  cell(node: ColumnNode, kind: CellKind, start: number, end: number): void;
  /** A key nobody knows: a node to go on with, or null to step over its value. */
  unknownKey(parent: ColumnNode, key: string, valueStart: number): ColumnNode | null;
}

/** @returns the tree of these columns, each node numbered by its place in the list */
export function columnTree(paths: readonly ColumnPath[]): ColumnNode {
  const root = new ColumnNode({ path: ROOT_PATH, index: 0, key: '' });
  for (const [column, path] of paths.entries()) {
    if (path === REST_PATH) continue;
    let node = root;
    for (const key of keysOf(path)) node = node.child(key) ?? node.addChild(key);
    node.column = column;
  }
  return root;
}

/**
 * Walks the JSON text of records and reports their cells, without making objects of them: numbers keep every digit,
 * and a record of the same shape as others costs one comparison a key.
 */
export class RecordWalker {
  readonly #root: ColumnNode;
  readonly #visitor: CellVisitor;
  #json = '';

  constructor(root: ColumnNode, visitor: CellVisitor) {
    this.#root = root;
    this.#visitor = visitor;
  }

  /** @throws DamagedRecordError when the text is no JSON (what is skipped is not looked at closely) */
  walk(json: string): void {
    this.#json = json;
    const end = skipSpace(json, this.#value(this.#root, skipSpace(json, 0), 0));
    if (end !== json.length) throw new DamagedRecordError(end);
  }

  #value(node: ColumnNode, start: number, depth: number): number {
    const json = this.#json;
    const code = json.charCodeAt(start);
    if (code === QUOTE) {
      const end = endOfString(json, start);
      this.#visitor.cell(node, STRING, start, end);
      return end + 1;
    }
    if (code === OPEN_BRACE && depth < DEEPEST && !node.isWhole) return this.#object(node, start, depth);
    if (code === OPEN_BRACE || code === OPEN_BRACKET) {
      const end = endOfNested(json, start);
      this.#visitor.cell(node, NESTED, start, end);
      return end;
    }
    const end = endOfScalar(json, start);
    this.#visitor.cell(node, code === 0x2d || (code >= 0x30 && code <= 0x39) ? NUMBER : LITERAL, start, end);
    return end;
  }

  #object(node: ColumnNode, start: number, depth: number): number {
    const json = this.#json;
    let at = skipSpace(json, start + 1);
    if (json.charCodeAt(at) === CLOSE_BRACE) {
      this.#visitor.cell(node, NESTED, start, at + 1);
      return at + 1;
    }
    let expected = 0;
    for (;;) {
      const predicted = node.children[expected];
      let child: ColumnNode | null;
      if (predicted !== undefined && json.startsWith(predicted.rawKey, at)) {
        child = predicted;
        at += predicted.rawKey.length;
      } else {
        const keyEnd = this.#endOfKey(at);
        const valueStart = this.#afterColon(keyEnd + 1);
        const key = stringAt(json, at, keyEnd);
        child = node.child(key) ?? this.#visitor.unknownKey(node, key, valueStart);
        at = valueStart;
      }
      if (child === null) at = endOfValue(json, at);
      else {
        expected = child.index + 1;
        at = this.#value(child, skipSpace(json, at), depth + 1);
      }
      at = skipSpace(json, at);
      const code = json.charCodeAt(at);
      if (code === CLOSE_BRACE) return at + 1;
      if (code !== COMMA) throw new DamagedRecordError(at);
      at = skipSpace(json, at + 1);
    }
  }

  #endOfKey(at: number): number {
    if (this.#json.charCodeAt(at) !== QUOTE) throw new DamagedRecordError(at);
    return endOfString(this.#json, at);
  }

  #afterColon(at: number): number {
    const colon = skipSpace(this.#json, at);
    if (this.#json.charCodeAt(colon) !== COLON) throw new DamagedRecordError(colon);
    return skipSpace(this.#json, colon + 1);
  }
}
