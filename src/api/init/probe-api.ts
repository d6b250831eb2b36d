import type { ApiDocument, PaginatorConfig } from '../../config/api-schema.ts';
import type { ResponseHeaders } from '../../core/headers.ts';
import { detectPaginator, statedTotal } from '../paginate/detect.ts';
import { withoutParam } from '../paginate/edit-request.ts';
import { compileRecordSelector } from '../record-selector.ts';
import { guessPrimaryKey, resourceNameOf, singularOf } from './primary-key.ts';

/** A starting configuration, and what there is to say about it. */
export type Draft = { api: ApiDocument; notes: string[] };

/**
 * What one response tells of an API: where its records are, how its pages follow, what its key is.
 * @param answered the URL that was asked for, and what came
 */
export function draftFromResponse(answered: { url: string; headers: ResponseHeaders; body: unknown }): Draft {
  const { url, headers, body } = answered;
  const page = compileRecordSelector(null)(body, { isFirst: true, guessedPath: null });
  const request = { url, method: 'GET', headers: {}, payload: null };
  const response = { url, headers, body, listLength: page.listLength, recordCount: page.records.length };
  const { config, evidence } = detectPaginator(response, request);
  const { origin, pathname } = new URL(url);
  const total = config.type === 'singlePage' ? statedTotal(response) : null;
  const name = resourceNameOf(pathname);
  const primaryKey = guessPrimaryKey(page.records, singularOf(name));
  const params = paramsOf(withoutPageParam(url, config));
  return {
    api: {
      baseUrl: origin,
      resources: [
        {
          name,
          ...(primaryKey === null ? {} : { primaryKey }),
          endpoint: {
            path: pathname,
            ...(Object.keys(params).length === 0 ? {} : { params }),
            dataSelector: page.guessedPath ?? '$',
            paginator: withoutDefaults(config),
          },
        },
      ],
    },
    notes: [
      `Records: ${page.guessedPath}, ${page.records.length} on this page`,
      total === null
        ? `Pages: ${config.type} (${evidence})`
        : `Pages: NOT FOUND OUT: ${total.path} says ${total.records}, and ${page.records.length} came. Put in the paginator that the API documents`,
      primaryKey === null
        ? 'Primary key: none found; without one a record that comes twice is kept twice'
        : `Primary key: ${primaryKey}, as every record has another one`,
    ],
  };
}

// The paginator sends it: what the URL has is where the listing begins.
function withoutPageParam(url: string, config: PaginatorConfig): string {
  if (config.type === 'pageNumber') return withoutParam(url, config.pageParam);
  if (config.type === 'offset') {
    const withoutOffset = withoutParam(url, config.offsetParam);
    return config.limitParam === null ? withoutOffset : withoutParam(withoutOffset, config.limitParam);
  }
  return config.type === 'cursor' && config.cursorParam !== undefined ? withoutParam(url, config.cursorParam) : url;
}

type Params = NonNullable<ApiDocument['resources'][number]['endpoint']['params']>;

function paramsOf(url: string): Params {
  const { searchParams } = new URL(url);
  const entries = [...new Set(searchParams.keys())].map((name) => {
    const values = searchParams.getAll(name).map((value) => (/^[1-9]\d{0,14}$/.test(value) ? Number(value) : value));
    return [name, values.length === 1 ? values[0]! : values] as const;
  });
  return Object.fromEntries(entries);
}

/** Only what is worth reading: the type and what was found. */
export function withoutDefaults(config: PaginatorConfig): PaginatorConfig {
  const defaults: Record<string, unknown> = { stopAfterEmptyPage: undefined, onRepeatedPage: 'fail', offset: 0 };
  const entries = Object.entries(config).filter(
    ([key, value]) => value !== undefined && key !== 'stopAfterEmptyPage' && defaults[key] !== value,
  );
  return Object.fromEntries(entries) as PaginatorConfig;
}
