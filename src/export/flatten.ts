import { isRawJson } from '../core/exact-json.ts';
import { type ColumnPath, MOST_COLUMNS, REST_PATH } from './column-path.ts';
import { type CellVisitor, type ColumnNode, columnTree, DEEPEST, RecordWalker } from './column-tree.ts';

/** @returns the columns of one record, in the order of its keys. @param json its JSON text */
export function columnsOf(json: string): ColumnPath[] {
  return [...new ColumnTracker().add(json)];
}

const NONE: readonly ColumnPath[] = Object.freeze([]);

/**
 * The union of the columns of all records, in first-seen order, kept while they are written: an export then needs no
 * pass of its own to find them. A record of a known shape costs about a microsecond a KB.
 */
export class ColumnTracker implements CellVisitor {
  readonly #columns: ColumnPath[];
  readonly #root: ColumnNode;
  readonly #walker: RecordWalker;
  #fresh: ColumnPath[] | null = null;
  #unreported: ColumnPath[] | null = null;

  /** @param columns those known from before, in their order */
  constructor(columns: readonly ColumnPath[] = []) {
    this.#columns = [...columns];
    this.#root = columnTree(columns);
    this.#walker = new RecordWalker(this.#root, this);
  }

  /** All so far. */
  get columns(): readonly ColumnPath[] {
    return this.#columns;
  }

  /**
   * @param json a record's JSON text
   * @returns the columns seen for the first time; most often none
   * @throws DamagedRecordError when the text is no JSON
   */
  add(json: string): readonly ColumnPath[] {
    this.#fresh = this.#unreported;
    this.#unreported = null;
    this.#walker.source.load(json);
    this.#walker.walk();
    return this.#fresh ?? NONE;
  }

  /**
   * The same for a record that is at hand as a value: a fraction of what reading its text costs.
   * @returns null when only its text tells what is stored (it has a toJSON, or a class): then `add` is to be called
   */
  addValue(record: unknown): readonly ColumnPath[] | null {
    this.#fresh = null;
    if (this.#walkValue(this.#root, record, 0)) return this.#fresh ?? NONE;
    // What was found on the way comes with what its text tells.
    this.#unreported = this.#fresh;
    return null;
  }

  #walkValue(node: ColumnNode, value: unknown, depth: number): boolean {
    if (typeof value !== 'object' || value === null || Array.isArray(value) || isRawJson(value)) {
      this.cell(node);
      return true;
    }
    if (!isPlain(value)) return false;
    let hasKeys = false;
    for (const key of depth < DEEPEST ? Object.keys(value) : []) {
      const inner = value[key];
      if (!isStored(inner)) continue;
      hasKeys = true;
      const child = node.child(key) ?? this.unknownKey(node, key);
      if (child !== null && !this.#walkValue(child, inner, depth + 1)) return false;
    }
    if (!hasKeys) this.cell(node);
    return true;
  }

  cell(node: ColumnNode): void {
    if (node.column >= 0 || this.#isFull()) return;
    node.column = this.#columns.length;
    this.#append(node.path);
  }

  unknownKey(parent: ColumnNode, key: string): ColumnNode | null {
    return this.#isFull() ? null : parent.addChild(key);
  }

  // The last column stands for all that find no place any more.
  #isFull(): boolean {
    if (this.#columns.length < MOST_COLUMNS - 1) return false;
    if (this.#columns.length < MOST_COLUMNS) this.#append(REST_PATH);
    return true;
  }

  #append(path: ColumnPath): void {
    this.#columns.push(path);
    this.#fresh ??= [];
    this.#fresh.push(path);
  }
}

function isPlain(value: object): value is Record<string, unknown> {
  const prototype = Object.getPrototypeOf(value);
  return (prototype === Object.prototype || prototype === null) && !('toJSON' in value);
}

// JSON.stringify leaves the others out.
function isStored(value: unknown): boolean {
  return value !== undefined && typeof value !== 'function' && typeof value !== 'symbol';
}
