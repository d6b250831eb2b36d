import { readFileSync } from 'node:fs';
import { optionName } from '../../src/cli/arguments.ts';
import { helpText } from '../../src/cli/commands.ts';
import { EXAMPLES } from '../../src/cli/examples.ts';
import { COMMAND_SUMMARIES, type CommandName, OPTIONS, type OptionDefinition } from '../../src/cli/options.ts';
import { allSettings, type SettingFacts } from './settings.ts';

const TEMPLATE = new URL('./configuration.template.md', import.meta.url);

/** @returns docs/configuration.md: the template, its marks replaced by tables made from the schemas */
export function configurationPage(): string {
  const settings = allSettings();
  const tables: Record<string, () => string> = {
    input: () =>
      settingsTable(
        settings.filter(({ path }) => !/^(hosts|practiceApi|probe|ramp|bench)\./.test(path)),
        '',
      ),
    host: () =>
      settingsTable(
        settings.filter(({ path }) => path.startsWith('hosts.*.')),
        'hosts.*.',
      ),
    options: () => commandNames().map(commandSection).join('\n\n'),
  };
  const template = readFileSync(TEMPLATE, 'utf8');
  return template.replaceAll(/<!-- table: ([^>]+?) -->/g, (_, mark: string) => {
    const table = tables[mark];
    if (table === undefined) throw new Error(`configuration.template.md: no table is called "${mark}"`);
    return table();
  });
}

function commandNames(): CommandName[] {
  return Object.keys(COMMAND_SUMMARIES) as CommandName[];
}

function settingsTable(settings: readonly SettingFacts[], prefix: string): string {
  const rows = settings.map((setting) => [
    `\`${setting.path.slice(prefix.length)}\``,
    setting.description,
    setting.type,
    defaultText(setting.default),
    optionOf(setting.path),
  ]);
  return table(['Key', 'Meaning', 'Value', 'Default', 'Option'], rows);
}

function commandSection(name: CommandName): string {
  return `### millrace ${name}\n\n${COMMAND_SUMMARIES[name]}.\n\n${exampleBlock(name)}\n\n${optionsTable(name)}`;
}

/** Why an example is not run with the others of the page. */
const NOT_RUN: Partial<Record<CommandName, string>> = {
  worker: 'it takes a PostgreSQL server: test/e2e has one',
  'practice-api': 'it serves until it is stopped: all examples are run against it',
  ramp: 'the first asks at a terminal, and a ramp takes minutes: test/measure/ramp runs it',
};

function exampleBlock(name: CommandName): string {
  const reason = NOT_RUN[name];
  const info = reason === undefined ? 'sh' : `sh not run: ${reason}`;
  const width = Math.max(...EXAMPLES[name].map(({ command }) => command.length));
  const lines = EXAMPLES[name].map(({ command, does }) => `${command.padEnd(width)}  # ${does}`);
  return `\`\`\`${info}\n${lines.join('\n')}\n\`\`\``;
}

function optionsTable(name: CommandName): string {
  const rows = OPTIONS[name].map((definition) => [
    `\`${definition.flags}\``,
    helpText(definition),
    setText(definition),
  ]);
  return table(['Option', 'Meaning', 'Sets'], rows);
}

function setText({ path }: OptionDefinition): string {
  return path === undefined || /^(practiceApi|probe|ramp|bench)\./.test(path) ? '' : `\`${path}\``;
}

function optionOf(path: string): string {
  const definition = OPTIONS.crawl.find((option) => option.path === path);
  return definition === undefined ? '' : `\`${optionName(definition)}\``;
}

function defaultText(value: unknown): string {
  return `\`${typeof value === 'string' ? value : JSON.stringify(value)}\``;
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [head, head.map(() => '---'), ...rows];
  return lines.map((cells) => `| ${cells.map(cellText).join(' | ')} |`).join('\n');
}

function cellText(text: string): string {
  return text.replaceAll('|', '\\|');
}
