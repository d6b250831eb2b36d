import { type ColumnPath, keysOf } from './column-path.ts';
import { CLOSE_BRACE, COMMA, JsonBytes, OPEN_BRACE } from './json-bytes.ts';

type Pick = { whole: boolean; children: Map<string, Pick> };

/** Keeps some fields of a record, in its own nesting and order; what is kept stays as it is written. */
export class FieldPicker {
  readonly #root: Pick = { whole: false, children: new Map() };
  readonly #source = new JsonBytes();

  /** @param paths column paths; an object's path keeps all of it */
  constructor(paths: readonly ColumnPath[]) {
    for (const path of paths) {
      let pick = this.#root;
      for (const key of keysOf(path)) {
        const child = pick.children.get(key) ?? { whole: false, children: new Map() };
        pick.children.set(key, child);
        pick = child;
      }
      pick.whole = true;
    }
  }

  /** @returns the record with these fields only, as JSON text */
  pick(json: string): string {
    this.#source.load(json);
    return this.#value(this.#source.skipSpace(0), this.#root) ?? '{}';
  }

  #value(start: number, pick: Pick): string | null {
    if (pick.whole) return this.#source.text(start, this.#source.endOfValue(start));
    return this.#source.bytes[start] === OPEN_BRACE ? this.#members(start, pick) : null;
  }

  #members(start: number, pick: Pick): string | null {
    const source = this.#source;
    const members: string[] = [];
    let at = source.skipSpace(start + 1);
    while (source.bytes[at] !== CLOSE_BRACE) {
      const keyEnd = source.endOfString(at);
      const valueStart = source.skipSpace(source.skipSpace(keyEnd + 1) + 1);
      const child = pick.children.get(source.string(at, keyEnd));
      const value = child && this.#value(valueStart, child);
      if (typeof value === 'string') members.push(`${source.text(at, keyEnd + 1)}:${value}`);
      at = source.skipSpace(source.endOfValue(valueStart));
      if (source.bytes[at] === COMMA) at = source.skipSpace(at + 1);
    }
    return members.length > 0 ? `{${members.join(',')}}` : null;
  }
}
