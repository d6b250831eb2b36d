import { CrawlError } from '../core/errors.ts';

const EXCERPT_CHARACTERS = 200;

export type InvalidJsonFacts = {
  /** Where the body came from. */
  url: string;
  text: string;
  /** What is wrong with it, without the position. */
  reason: string;
  /** Offset in characters; null where it is not known or the whole body is of another kind. */
  position: number | null;
};

/** A body that is not JSON, though a response of success. A repeat would most likely bring the same. */
export class InvalidJsonError extends CrawlError {
  override readonly name = 'InvalidJsonError';
  readonly code = 'INVALID_JSON';
  readonly recovery = 'skip';
  readonly reason: string;
  /** Offset in characters; null where it is not known or the whole body is of another kind. */
  readonly position: number | null;
  /** At most 200 characters of the body, around the position. */
  readonly excerpt: string;

  constructor(facts: InvalidJsonFacts, options?: ErrorOptions) {
    const excerpt = excerptAround(facts.text, facts.position ?? 0);
    const where = facts.position === null ? '' : ` at character ${facts.position}`;
    super(`${facts.url}: the body is not JSON: ${facts.reason}${where}${excerpt && `: ${excerpt}`}`, options);
    this.reason = facts.reason;
    this.position = facts.position;
    this.excerpt = excerpt;
  }
}

function excerptAround(text: string, position: number): string {
  const latestStart = Math.max(0, text.length - EXCERPT_CHARACTERS);
  const start = Math.min(latestStart, Math.max(0, position - EXCERPT_CHARACTERS / 2));
  return text.slice(start, start + EXCERPT_CHARACTERS);
}

const COMMENTS = /^\s*(?:<!--.{0,1000}?-->\s*)*/s;
const HTML_START = /^<(?:!doctype\s+html|html|head|body|title)\b/i;

/** @returns what a body in HTML is, with its title, so that a login or error page is known by name; null for others */
export function describeHtml(text: string): string | null {
  const start = text.slice(0, 20_000).replace(COMMENTS, '');
  if (!HTML_START.test(start)) return null;
  const title = /<title[^>]*>\s*([^<]{0,100})/i.exec(start)?.[1]?.trim();
  return title ? `it is an HTML page titled "${title}"` : 'it is an HTML page';
}
