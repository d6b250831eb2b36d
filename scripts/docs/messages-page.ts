import { findMessages, type Message } from './find-messages.ts';

/** Where a message is met, and the folders of src it comes from. */
const SECTIONS: readonly { title: string; from: RegExp }[] = [
  { title: 'On the command line, in documents and lists', from: /^(cli|config|main|queue\/sources)/ },
  { title: 'A run, from its beginning to its end', from: /^(app|report|index)/ },
  { title: 'Storage', from: /^storage/ },
  { title: 'While it crawls', from: /^(core|crawl|governor|http|queue\/(?!sources)|sessions|routes)/ },
  { title: 'Declared APIs', from: /^api/ },
  { title: 'Exports', from: /^export/ },
  { title: 'Measuring', from: /^measure/ },
  { title: 'As an Actor', from: /^actor/ },
];

const HEAD = `# Messages

This page is made from the sources by \`node scripts/generate-docs.ts\`: every sentence of ours that the command can end with, warn of
or tell while it crawls. \`…\` stands for what is filled in: a name, a number, a place, or what the system said. What an option or a
key of a document must be is told from its schema ([configuration.md](configuration.md)); failed requests have codes
([failures.md](failures.md)). What to do, by symptom: [troubleshooting.md](troubleshooting.md).
`;

/** @returns docs/messages.md @throws when a message comes from a folder that stands in no section */
export function messagesPage(): string {
  const messages = findMessages();
  const lost = messages.filter(({ file }) => !SECTIONS.some(({ from }) => from.test(file)));
  if (lost.length > 0) throw new Error(`messages-page.ts: in no section: ${lost.map(({ file }) => file).join(', ')}`);
  const sections = SECTIONS.map(({ title, from }) =>
    section(
      title,
      messages.filter(({ file }) => from.test(file)),
    ),
  );
  return `${HEAD}${sections.join('')}`;
}

function section(title: string, messages: readonly Message[]): string {
  const lines = [...new Set(messages.map(({ text }) => lineOf(text)))].sort((a, b) => a.localeCompare(b, 'en'));
  return lines.length === 0 ? '' : `\n## ${title}\n\n${lines.map((line) => `- ${line}\n`).join('')}`;
}

/** As text of Markdown: nothing in it may become a mark. */
function lineOf(text: string): string {
  return text
    .replaceAll(/\s+/g, ' ')
    .trim()
    .replaceAll(/[\\*_[\]<>#|{}]|^[-+](?= )/g, (mark) => `\\${mark}`);
}
