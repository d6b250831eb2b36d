import { Command, Option } from 'commander';
import { EXAMPLES, exampleLines } from './examples.ts';
import { OPTION_HELP } from './option-help.ts';
import { COMMAND_SUMMARIES, type CommandName, OPTIONS, type OptionDefinition } from './options.ts';

/** What a command takes besides options; in angle brackets what it cannot do without. */
export const OPERANDS: Partial<Record<CommandName, { name: string; help: string }>> = {
  crawl: {
    name: '[INPUT...]',
    help: 'a URL, a file (.txt one URL a line, .csv, .jsonl, .yaml or .json input document; also .gz), or - for stdin',
  },
  init: {
    name: '<SOURCE>',
    help: 'an OpenAPI 3 document (file or URL, YAML or JSON), or the URL of a list to look at',
  },
  probe: { name: '[URL...]', help: 'what to measure' },
  ramp: { name: '<URL>', help: 'what to ask for: of a host that you may try the limits of' },
  bench: { name: '<URL>', help: 'what to send requests to: a server of your own, or with its leave' },
  validate: { name: '<FILE>', help: 'an input document, .yaml or .json' },
};

const NOTES: Partial<Record<CommandName, string>> = {
  crawl:
    '\nWithout INPUT: INPUT.json in <storage>/key_value_stores/default if there is one, else the routes in src/routes.\n',
};

const PROGRAM_NOTES = `
Without a command word, the arguments are those of crawl: millrace urls.txt
Options of a command: millrace <command> --help

Exit code: 0 all requests succeeded; 1 an internal failure, or the environment refuses; 2 bad usage or configuration;
3 finished with failed requests, or incomplete; 130 / 143 stopped by SIGINT / SIGTERM, state saved.`;

/** @returns the word as a command; null when it is none */
export function commandNamed(word: string | undefined): CommandName | null {
  return word !== undefined && Object.hasOwn(COMMAND_SUMMARIES, word) ? (word as CommandName) : null;
}

/** @returns commander's view of one command: its options, and the text of its --help */
export function commandFor(name: CommandName): Command {
  const command = new Command(`millrace ${name}`)
    .description(COMMAND_SUMMARIES[name])
    .exitOverride()
    .configureOutput({ outputError: () => {} })
    .helpOption('-h, --help', 'Show this')
    .addHelpText('after', `\nExamples:\n${exampleLines(EXAMPLES[name]).join('\n')}\n${NOTES[name] ?? ''}`.trimEnd());
  const operands = OPERANDS[name];
  if (operands !== undefined) command.argument(operands.name, operands.help);
  for (const definition of OPTIONS[name]) command.addOption(optionFor(definition));
  return command;
}

/** @returns commander's option for an entry of the table */
export function optionFor(definition: OptionDefinition): Option {
  const option = new Option(definition.flags, helpText(definition)).helpGroup(definition.group);
  return definition.repeatable ? option.argParser(collect) : option;
}

/** @returns the text of `millrace --help`, `width` characters wide */
export function programHelp(width: number): string {
  const program = new Command('millrace')
    .description('Crawls JSON APIs: everything, at the highest rate each host sustains, nothing lost.')
    .usage('[command] [options]')
    .helpOption('-h, --help', 'Show this')
    .version('', '-V, --version', 'Show the version')
    .helpCommand('help [command]', 'Show the options of a command')
    .addHelpText('after', PROGRAM_NOTES)
    .configureHelp({ helpWidth: width });
  for (const [name, summary] of Object.entries(COMMAND_SUMMARIES)) {
    program
      .command(name)
      .description(summary)
      .usage(`${OPERANDS[name as CommandName]?.name ?? ''} [options]`.trim());
  }
  return helpOf(program);
}

/** @returns the text of `millrace <command> --help` */
export function commandHelp(name: CommandName, width: number): string {
  return helpOf(commandFor(name).configureHelp({ helpWidth: width }));
}

function helpOf(command: Command): string {
  let text = '';
  command.configureOutput({ writeOut: (part) => (text += part) });
  command.outputHelp();
  return text;
}

function collect(value: string, previous: string[] | undefined): string[] {
  return [...(previous ?? []), value];
}

/** @returns what --help and the documentation say of an option */
export function helpText({ help, path, reads }: OptionDefinition): string {
  const facts = path === undefined ? undefined : OPTION_HELP[path];
  if (facts === undefined) return help ?? '';
  const inSeconds = reads === 'seconds';
  // On the command line an option is left out, not set to null.
  const meaning = facts.description.replace(/; null = .*$/, '');
  const description = help ?? (inSeconds ? meaning.replace(/, ms$/, ', s') : meaning);
  if (facts.default === null || typeof reads === 'object' || typeof facts.default === 'object') return description;
  return `${description} (default: ${inSeconds ? Number(facts.default) / 1000 : facts.default})`;
}
