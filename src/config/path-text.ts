const PLAIN_KEY = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** @returns a path as one reads it: `hosts["api.example.com"].timeouts.totalMs`, `startUrls[3].url` */
export function pathText(path: readonly PropertyKey[]): string {
  return path.reduce<string>((text, key) => {
    if (typeof key === 'number') return `${text}[${key}]`;
    const name = String(key);
    if (!PLAIN_KEY.test(name)) return `${text}[${JSON.stringify(name)}]`;
    return text === '' ? name : `${text}.${name}`;
  }, '');
}
