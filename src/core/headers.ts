/** Response headers: names in lower case; repeated ones as a list where they cannot be joined. */
export type ResponseHeaders = Record<string, string | string[] | undefined>;

/** @returns the header's text, repeated ones joined by ", "; undefined when absent. */
export function headerText(headers: ResponseHeaders, name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value.join(', ') : value;
}
