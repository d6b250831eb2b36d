import type { ResponseHeaders } from '../../core/headers.ts';
import type { SentRequest } from '../../routes/define-route.ts';

/** A request for a page, as it is stored: references such as `${env:NAME}` are not filled in. */
export type PageRequest = SentRequest;

/** What came back. */
export type PageResponse = {
  /** The URL that answered, after redirects: relative links start from it. */
  url: string;
  headers: ResponseHeaders;
  body: unknown;
  /** Length of the list the records were picked from. */
  listLength: number;
  /** Records picked. */
  recordCount: number;
};

/** JSON-safe: it travels in the userData of the next request. */
export type PageState = Readonly<Record<string, unknown>>;

export type NextPage = { request: PageRequest; state: PageState };

/** What follows a page. */
export type Step =
  | {
      kind: 'next';
      /** One request; or all that are left, when their number is known. */
      pages: Iterable<NextPage>;
      /** What names the next page (cursor, URL), to find loops by; null = counted up here, so it cannot loop. */
      cursor: string | null;
      /** Worth one warning or note in the log. */
      warning?: string;
      note?: string;
    }
  | { kind: 'done'; reason: string; warning?: string; note?: string };

/** Records over all pages, where the server says so. */
export type DeclaredTotal = { records: number } | null;

/** How one page leads to the next: pure, all it knows travels in the state. */
export type Paginator = {
  first(request: PageRequest): NextPage;
  next(state: PageState, response: PageResponse, request: PageRequest): Step;
  /** The total the page declares. */
  total(response: PageResponse, state: PageState): DeclaredTotal;
  /** Where the page's first record stands in the whole list, where pages are counted; null elsewhere. */
  position?(state: PageState): { offset: number } | null;
};

export type PaginatorOptions = {
  /** Whether pages whose number is known may be asked for at once. */
  parallel: boolean;
};

export function done(reason: string, extra: { warning?: string; note?: string } = {}): Step {
  return { kind: 'done', reason, ...extra };
}

/** One page follows, named by a cursor of the server's. */
export function follow(page: NextPage, cursor: string | null, extra: { warning?: string; note?: string } = {}): Step {
  return { kind: 'next', pages: [page], cursor, ...extra };
}
