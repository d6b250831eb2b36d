import { type ColumnPath, keysOf } from './column-path.ts';
import { CLOSE_BRACE, COMMA, endOfString, endOfValue, OPEN_BRACE, skipSpace, stringAt } from './json-text.ts';

type Pick = { whole: boolean; children: Map<string, Pick> };

/** Keeps some fields of a record, in its own nesting and order; what is kept stays as it is written. */
export class FieldPicker {
  readonly #root: Pick = { whole: false, children: new Map() };

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
    return pickValue(json, skipSpace(json, 0), this.#root) ?? '{}';
  }
}

function pickValue(json: string, start: number, pick: Pick): string | null {
  if (pick.whole) return json.slice(start, endOfValue(json, start));
  return json.charCodeAt(start) === OPEN_BRACE ? pickMembers(json, start, pick) : null;
}

function pickMembers(json: string, start: number, pick: Pick): string | null {
  const members: string[] = [];
  let at = skipSpace(json, start + 1);
  while (json.charCodeAt(at) !== CLOSE_BRACE) {
    const keyEnd = endOfString(json, at);
    const valueStart = skipSpace(json, skipSpace(json, keyEnd + 1) + 1);
    const child = pick.children.get(stringAt(json, at, keyEnd));
    const value = child && pickValue(json, valueStart, child);
    if (typeof value === 'string') members.push(`${json.slice(at, keyEnd + 1)}:${value}`);
    at = skipSpace(json, endOfValue(json, valueStart));
    if (json.charCodeAt(at) === COMMA) at = skipSpace(json, at + 1);
  }
  return members.length > 0 ? `{${members.join(',')}}` : null;
}
