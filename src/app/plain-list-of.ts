import { compileRecordSelector } from '../api/record-selector.ts';
import type { Input } from '../config/input-schema.ts';
import { messageOf, UsageError } from '../core/errors.ts';
import type { PlainList, RecordSelector } from '../crawl/plain-list.ts';

/**
 * How the responses of a URL list become records.
 * @throws UsageError when `select` is no JSONPath
 */
export function plainListOf({ dataset, select, sourceColumn }: Input): PlainList {
  return { dataset, selector: select === null ? null : selectorOf(select), sourceColumn };
}

function selectorOf(path: string): RecordSelector {
  try {
    const pick = compileRecordSelector(path);
    return { path, select: (body) => [...pick(body, { isFirst: true, guessedPath: null }).records] };
  } catch (error) {
    throw new UsageError(`select: ${messageOf(error)}`, { cause: error });
  }
}
