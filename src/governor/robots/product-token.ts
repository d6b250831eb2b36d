/** A product token in lower case, or "*" for everybody. */
export type AgentName = string;

export const EVERYBODY: AgentName = '*';

/**
 * Reads a user agent, from a robots.txt line or of our own.
 * @returns the letters, underscores and hyphens it begins with (RFC 9309 2.2.1), in lower case: "FooBot/2.1" and
 *   "FooBot images" are "foobot"; "*" for "*", alone or before a space; undefined when nothing is left
 */
export function agentName(text: string): AgentName | undefined {
  if (/^\*(\s|$)/.test(text)) return EVERYBODY;
  return /^[a-z_-]+/.exec(text.toLowerCase())?.[0];
}
