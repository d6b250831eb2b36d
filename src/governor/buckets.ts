// Enough for any API; a server that names a bucket for each URL must not fill the memory.
const MOST_NODES = 2_000;
const MOST_SEGMENTS = 8;

/** What a bucket is learned for. `url` is absolute. */
export type BucketRequest = { method: string; url: string };

type Node = { bucket: string; children: Map<string, Node> | null };

/**
 * Learns which of a server's budgets a request counts to, from the names it gives them in its answers: by the path, as
 * far down as needed to tell them apart, ids taken for the same; then by the method.
 */
export class Buckets {
  #root: Node | null = null;
  #nodes = 0;
  /** The first bucket named is the host's own: its key stays as it was. */
  #first: string | null = null;

  /** @returns the bucket, '' for the host's own and for what is not known */
  bucketOf(request: BucketRequest): string {
    if (this.#root === null) return '';
    let node = this.#root;
    for (const part of partsOf(request)) {
      const child = node.children?.get(part);
      if (child === undefined) break;
      node = child;
    }
    return node.bucket;
  }

  /** An answer named the bucket of its request. @returns the bucket as `bucketOf` gives it */
  learn(request: BucketRequest, named: string): string {
    const bucket = this.#ownName(request, named);
    if (this.#root === null) {
      this.#root = { bucket, children: null };
      this.#nodes = 1;
      return bucket;
    }
    let node = this.#root;
    for (const part of partsOf(request)) {
      if (node.bucket === bucket && node.children === null) return bucket;
      const next = this.#child(node, part, bucket);
      if (next === null) return bucket;
      node = next;
    }
    node.bucket = bucket;
    return bucket;
  }

  #child(node: Node, part: string, bucket: string): Node | null {
    const known = node.children?.get(part);
    if (known !== undefined) return known;
    if (node.bucket === bucket) return null;
    if (this.#nodes >= MOST_NODES) return null;
    this.#nodes += 1;
    const child: Node = { bucket, children: null };
    node.children ??= new Map();
    node.children.set(part, child);
    return child;
  }

  #ownName(request: BucketRequest, named: string): string {
    const full = named + majorParameter(request.url);
    this.#first ??= full;
    return full === this.#first ? '' : full;
  }
}

// Discord counts a bucket apart for each channel, guild and webhook.
const MAJOR_PARAMETER = /^https:\/\/(?:[a-z]+\.)?discord\.com\/api(?:\/v\d+)?\/(?:channels|guilds|webhooks)\/(\d+)/;

function majorParameter(url: string): string {
  const found = MAJOR_PARAMETER.exec(url);
  return found ? `:${found[1]}` : '';
}

function partsOf({ method, url }: BucketRequest): string[] {
  const start = url.indexOf('/', url.indexOf('//') + 2);
  const path = start < 0 ? '' : (url.slice(start).split(/[?#]/, 1)[0] ?? '');
  const isDiscord = MAJOR_PARAMETER.test(url);
  const segments = path.split('/').filter((segment) => segment !== '');
  const parts = segments.slice(0, MOST_SEGMENTS).map((segment) => (isDiscord || !isId(segment) ? segment : '*'));
  return [...parts, ` ${method}`];
}

const ID = /^(\d+|[0-9a-f]{8,}|[0-9a-f]{8}-[0-9a-f-]{27}|[A-Za-z0-9_-]*\d[A-Za-z0-9_-]{10,})$/;

function isId(segment: string): boolean {
  return ID.test(segment);
}
