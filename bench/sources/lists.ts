import { once } from 'node:events';
import { createWriteStream } from 'node:fs';

export type ListKind = 'text' | 'csv' | 'quoted csv' | 'jsonl';

const WRITERS: Record<ListKind, { head: string; line: (url: string, index: number) => string }> = {
  text: { head: '', line: (url) => url },
  csv: { head: 'id,name,url\n', line: (url, index) => `${index},Product ${index},${url}` },
  'quoted csv': { head: '"id","name","url"\n', line: (url, index) => `"${index}","Product, ""${index}""","${url}"` },
  jsonl: { head: '', line: (url, index) => JSON.stringify({ url, userData: { id: index } }) },
};

/** Writes a list of so many different URLs, 60 to 67 characters each. */
export async function writeList(path: string, kind: ListKind, lines: number): Promise<void> {
  const { head, line } = WRITERS[kind];
  const file = createWriteStream(path);
  file.write(head);
  for (let start = 0; start < lines; start += 10_000) {
    const urls = Array.from({ length: Math.min(10_000, lines - start) }, (_, index) => start + index);
    const text = urls.map(
      (index) => `${line(`https://api.example.com/v2/products/${index}?lang=en&sort=name`, index)}\n`,
    );
    if (!file.write(text.join(''))) await once(file, 'drain');
  }
  file.end();
  await once(file, 'close');
}
