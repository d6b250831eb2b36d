/** What a product looks like on a list page. */
export type ProductSummary = {
  /** 1, 2, 3, ... without gaps. */
  id: number;
  sku: string;
  name: string;
  category: string;
  price: Price;
  /** ISO 8601, UTC. */
  updatedAt: string;
};

export type Price = {
  amount: number;
  /** ISO 4217. */
  currency: string;
  /** null when there is none. */
  discountPercent: number | null;
};

/** A product in full, as its own page gives it. */
export type Product = ProductSummary & {
  /** Beyond 2^53: JSON.parse alone would round it. In the JSON it is a bare number. */
  ledgerId: bigint;
  /** May have commas, quotes and line breaks. */
  description: string;
  maker: { name: string; country: string };
  /** null where nobody has measured it. */
  dimensions: { widthMm: number; heightMm: number; depthMm: number; weightGrams: number } | null;
  tags: string[];
  /** Pieces by warehouse. */
  stock: Record<string, number>;
  /** Mean of its reviews, 1 to 5; null without one. */
  rating: number | null;
  reviewCount: number;
  /** ISO 8601 date. */
  releasedOn: string;
  discontinued: boolean;
  /** Counts the changes since the server started; from 1. */
  version: number;
};

export type Review = {
  /** Unique over all products. */
  id: number;
  productId: number;
  author: string;
  /** 1 to 5. */
  stars: number;
  title: string | null;
  text: string;
  verifiedPurchase: boolean;
  /** ISO 8601, UTC. */
  writtenAt: string;
};

/** `GET /products`: `next` is the cursor of the following page; null on the last. */
export type CursorPage<T> = { items: T[]; next: string | null };
/** `GET /pages/products` and `GET /products/:id/reviews`. */
export type NumberedPage<T> = { items: T[]; page: number; perPage: number; totalPages: number; total: number };
/** `GET /offset/products`. */
export type OffsetPage<T> = { results: T[]; offset: number; limit: number; total: number };
/** `GET /next-url/products`: `next` and `previous` are absolute URLs. */
export type NextUrlPage<T> = { count: number; next: string | null; previous: string | null; results: T[] };
/** `POST /graphql`. */
export type RelayPage<T> = {
  edges: { cursor: string; node: T }[];
  pageInfo: { hasNextPage: boolean; endCursor: string | null };
  totalCount: number;
};

/** The body of every answer that is not a success. */
export type ErrorBody = { error: { code: string; message: string } };

/** `GET /__stats`: what was served since the start; requests for `/__...` itself are left out. */
export type PracticeStats = {
  /** Answers in all. */
  served: number;
  /** Answers by status. */
  statuses: Record<string, number>;
  /** Answers by path kind ("/products/:id") and status. */
  paths: Record<string, Record<string, number>>;
  /** How often each product's own page was answered with 200 or 304, by id. */
  details: Record<string, number>;
  /** Products there are. */
  items: number;
  /** Requests being answered now, and the most there ever were at once. */
  inFlight: number;
  maxInFlight: number;
};
