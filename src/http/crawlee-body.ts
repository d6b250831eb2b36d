import type { HttpRequest as CrawleeRequest } from '@crawlee/core';

/** A request's body as we send it, with the content type it implies (a form has its boundary in it). */
export type SendableBody = { body: string | Uint8Array | null; contentType: string | null };

/**
 * Collects the kinds of body that Crawlee knows: text, bytes, streams, generators, forms.
 * @throws what a stream or generator throws
 */
export async function collectBody(body: CrawleeRequest['body']): Promise<SendableBody> {
  if (body === undefined || body === null) return { body: null, contentType: null };
  if (typeof body === 'string' || body instanceof Uint8Array) return { body, contentType: null };
  if (body instanceof FormData) {
    const form = new Response(body);
    return { body: new Uint8Array(await form.arrayBuffer()), contentType: form.headers.get('content-type') };
  }
  const chunks: Uint8Array[] = [];
  for await (const chunk of body as AsyncIterable<string | Uint8Array>) {
    chunks.push(typeof chunk === 'string' ? Buffer.from(chunk) : chunk);
  }
  return { body: Buffer.concat(chunks), contentType: boundaryOf(body) };
}

// The npm package form-data is a stream that knows its own content type.
function boundaryOf(body: object): string | null {
  const { getHeaders } = body as { getHeaders?: () => Record<string, string> };
  return getHeaders ? (getHeaders.call(body)['content-type'] ?? null) : null;
}
