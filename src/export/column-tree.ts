import { type ColumnPath, childPath, keysOf, REST_PATH, ROOT_PATH } from './column-path.ts';
import { CLOSE_BRACE, COLON, COMMA, JsonBytes, OPEN_BRACE, OPEN_BRACKET, QUOTE } from './json-bytes.ts';
import { DamagedRecordError } from './rows.ts';

/** Kinds of a value that is a cell of its own, told by how it is written. */
export const STRING = 0;
export const NUMBER = 1;
export const LITERAL = 2;
/** An array, {}, or an object deeper than columns go: its JSON text. */
export const NESTED = 3;
export type CellKind = typeof STRING | typeof NUMBER | typeof LITERAL | typeof NESTED;

// Deeper objects stay JSON text: a hostile response must not make a path of a million keys.
export const DEEPEST = 32;
const MINUS = 0x2d;
const ZERO = 0x30;
const NINE = 0x39;

/** A key, or the whole record at the root. */
export class ColumnNode {
  readonly path: ColumnPath;
  /** Its place among its parent's keys. */
  readonly index: number;
  /** How its key is written when nothing but it and a colon stand there. */
  readonly rawKey: Uint8Array;
  /** Its column; -1 while it is none (never seen, or only seen as an object). */
  column = -1;
  /** An object here is a cell of its own. */
  isWhole = false;
  readonly children: ColumnNode[] = [];
  readonly #byKey = new Map<string, ColumnNode>();

  constructor({ path, index, key }: { path: ColumnPath; index: number; key: string }) {
    this.path = path;
    this.index = index;
    this.rawKey = Buffer.from(`${JSON.stringify(key)}:`);
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

/** What a walk reports. Places are of the bytes it walks. */
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
 * Walks the JSON of records and reports their cells, without making objects of them: numbers keep every digit, and a
 * record of the same shape as others costs one comparison a key.
 */
export class RecordWalker {
  /** The record it walks. */
  readonly source: JsonBytes;
  readonly #root: ColumnNode;
  readonly #visitor: CellVisitor;

  /** @param noted a byte to be told of: source.marksSeen has NOTED while a string cell that has it is reported */
  constructor(root: ColumnNode, visitor: CellVisitor, noted: number | null = null) {
    this.#root = root;
    this.#visitor = visitor;
    this.source = new JsonBytes(noted);
  }

  /**
   * Walks the record that `source` has loaded.
   * @throws DamagedRecordError when the text is no JSON (what is stepped over is not looked at closely)
   */
  walk(): void {
    const { source } = this;
    const end = source.skipSpace(this.#value(this.#root, source.skipSpace(0), 0));
    if (end !== source.length) throw new DamagedRecordError(end);
  }

  #value(node: ColumnNode, start: number, depth: number): number {
    const { source } = this;
    const byte = source.bytes[start] as number;
    if (byte === QUOTE) {
      const end = source.endOfString(start);
      this.#visitor.cell(node, STRING, start, end);
      return end + 1;
    }
    if (byte === OPEN_BRACE && depth < DEEPEST && !node.isWhole) return this.#object(node, start, depth);
    if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
      const end = source.endOfNested(start);
      this.#visitor.cell(node, NESTED, start, end);
      return end;
    }
    const end = source.endOfScalar(start);
    this.#visitor.cell(node, byte === MINUS || (byte >= ZERO && byte <= NINE) ? NUMBER : LITERAL, start, end);
    return end;
  }

  #object(node: ColumnNode, start: number, depth: number): number {
    const { source } = this;
    let at = source.skipSpace(start + 1);
    if (source.bytes[at] === CLOSE_BRACE) {
      this.#visitor.cell(node, NESTED, start, at + 1);
      return at + 1;
    }
    // Most records have their keys in the order of those before.
    let expected = 0;
    for (;;) {
      const predicted = node.children[expected];
      if (predicted !== undefined && this.#isAt(predicted.rawKey, at)) {
        at = this.#value(predicted, source.skipSpace(at + predicted.rawKey.length), depth + 1);
        expected++;
      } else {
        const { child, valueStart } = this.#lookUp(node, at);
        at = child === null ? source.endOfValue(valueStart) : this.#value(child, valueStart, depth + 1);
        if (child !== null) expected = child.index + 1;
      }
      at = source.skipSpace(at);
      const byte = source.bytes[at];
      if (byte === CLOSE_BRACE) return at + 1;
      if (byte !== COMMA) throw new DamagedRecordError(at);
      at = source.skipSpace(at + 1);
    }
  }

  #isAt(rawKey: Uint8Array, at: number): boolean {
    const { bytes } = this.source;
    for (let index = 0; index < rawKey.length; index++) if (bytes[at + index] !== rawKey[index]) return false;
    return true;
  }

  #lookUp(parent: ColumnNode, at: number): { child: ColumnNode | null; valueStart: number } {
    const { source } = this;
    if (source.bytes[at] !== QUOTE) throw new DamagedRecordError(at);
    const keyEnd = source.endOfString(at);
    const colon = source.skipSpace(keyEnd + 1);
    if (source.bytes[colon] !== COLON) throw new DamagedRecordError(colon);
    const valueStart = source.skipSpace(colon + 1);
    const key = source.string(at, keyEnd);
    return { child: parent.child(key) ?? this.#visitor.unknownKey(parent, key, valueStart), valueStart };
  }
}
