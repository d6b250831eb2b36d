import { headerText } from '../../core/headers.ts';
import { scalarText } from '../json-value.ts';
import { compileSelector } from '../selector.ts';
import { type ValueTarget, withPageValue } from './edit-request.ts';
import { done, follow, type PageResponse, type Paginator } from './paginator.ts';

export type CursorTargetConfig = { cursorParam?: string; cursorHeader?: string; cursorBodyPath?: string };

/**
 * The body carries a cursor.
 * @throws SelectorSyntaxError
 */
export function cursorPaginator(config: { cursorPath: string } & CursorTargetConfig): Paginator {
  const selector = compileSelector(config.cursorPath);
  return cursorFrom((response) => selector.first(response.body), selector.text, cursorTarget(config));
}

/** A response header carries the cursor. */
export function headerCursorPaginator(config: { responseHeader: string } & CursorTargetConfig): Paginator {
  const name = config.responseHeader.toLowerCase();
  return cursorFrom((response) => headerText(response.headers, name), `header ${name}`, cursorTarget(config));
}

function cursorTarget(config: CursorTargetConfig): ValueTarget {
  if (config.cursorHeader !== undefined) return { header: config.cursorHeader };
  if (config.cursorBodyPath !== undefined) return { bodyPath: config.cursorBodyPath };
  return { param: config.cursorParam ?? 'cursor' };
}

function cursorFrom(read: (response: PageResponse) => unknown, where: string, target: ValueTarget): Paginator {
  return {
    first: (request) => ({ request, state: {} }),
    next(_state, response, request) {
      const cursor = cursorText(read(response));
      if (cursor === undefined) return done(`${where} is empty`);
      return follow({ request: withPageValue(request, target, cursor), state: {} }, cursor);
    },
    total: () => null,
  };
}

function cursorText(value: unknown): string | undefined {
  const text = typeof value === 'boolean' ? undefined : scalarText(value);
  return text === undefined || text.trim() === '' ? undefined : text;
}
