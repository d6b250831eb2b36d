const SECRET_NAME =
  /(^|[^a-z])(api[-_]?key|access[-_]?key|subscription[-_]?key|app[-_]?key|key|token|[a-z]+[-_]?token|secret|[a-z]+[-_]?secret|pass(word|wd|phrase)?|pwd|auth|authorization|credentials?|cookie|set-cookie|signature|sig|session([-_]?id)?|jwt|bearer)$/i;

/** @returns whether a header, query parameter or setting of this name usually carries a secret */
export function isSecretName(name: string): boolean {
  // camelCase is read as words: accessToken as access-token.
  return SECRET_NAME.test(name.replaceAll(/([a-z0-9])([A-Z])/g, '$1-$2'));
}

const HARMLESS_HEADERS: ReadonlySet<string> = new Set([
  'accept',
  'accept-language',
  'accept-encoding',
  'content-type',
  'user-agent',
  'cache-control',
  'referer',
  'origin',
]);

/** @returns whether a header's value is never a secret; of any other it may be */
export function isHarmlessHeader(name: string): boolean {
  return HARMLESS_HEADERS.has(name.toLowerCase());
}
