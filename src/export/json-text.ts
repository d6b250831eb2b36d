const STRING_OR_SPACE = /"(?:[^"\\]|\\.)*"|\s+/g;

/** @returns the JSON on one line: white space between tokens is dropped, every value stays as it is written */
export function onOneLine(json: string): string {
  if (!json.includes('\n') && !json.includes('\r')) return json;
  return json.replaceAll(STRING_OR_SPACE, (found) => (found.startsWith('"') ? found : ''));
}

const SURROGATE_ESCAPE = /\\u[dD][89a-fA-F]/;
const ESCAPE = /\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|.)/g;

/** @returns the JSON with half characters (lone surrogates), which UTF-8 does not know, as U+FFFD: readers refuse them */
export function withoutLoneSurrogates(json: string): string {
  if (!SURROGATE_ESCAPE.test(json)) return json;
  return json.replaceAll(ESCAPE, (found) => (/^\\u[dD][89a-fA-F]..$/.test(found) ? '\ufffd' : found));
}
