import { type Command, CommanderError } from 'commander';
import { UsageError } from '../core/errors.ts';
import { didYouMean } from '../core/nearest-name.ts';
import { commandFor, OPERANDS, optionFor } from './commands.ts';
import { type CommandName, OPTIONS, type OptionDefinition } from './options.ts';

/** What was typed after the command word. */
export class Arguments {
  readonly command: CommandName;
  readonly operands: readonly string[];
  readonly #values: ReadonlyMap<string, unknown>;

  constructor(facts: { command: CommandName; operands: readonly string[]; values: ReadonlyMap<string, unknown> }) {
    this.command = facts.command;
    this.operands = facts.operands;
    this.#values = facts.values;
  }

  /** Whether the option was given. @param name as typed, without value: "--fresh" */
  has(name: string): boolean {
    return this.#values.has(name);
  }

  /** @returns the option's value; undefined when it was not given */
  text(name: string): string | undefined {
    const value = this.#values.get(name);
    return typeof value === 'string' ? value : undefined;
  }

  /** @returns all values of a repeatable option, in order */
  list(name: string): readonly string[] {
    const value = this.#values.get(name);
    return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
  }

  /** The options given that set a key of the command's schema. */
  settings(): { name: string; path: string; definition: OptionDefinition }[] {
    return OPTIONS[this.command].flatMap((definition) => {
      const name = optionName(definition);
      return definition.path !== undefined && this.has(name) ? [{ name, path: definition.path, definition }] : [];
    });
  }
}

/** @returns `--max-retries` of `--max-retries <count>` */
export function optionName(definition: OptionDefinition): string {
  return definition.flags.split(' ', 1)[0]!;
}

/**
 * Reads what follows the command word.
 * @throws UsageError listing every unknown option and every option without its value
 */
export function parseArguments(name: CommandName, argv: readonly string[]): Arguments {
  const command = commandFor(name);
  const { operands, unknown, problems: unfinished } = readOptions(command, withoutTakenOperands(name, argv));
  const values = valuesOf(name, command);
  const problems = [
    ...unknownOptions(name, unknown),
    ...wrongValues(name, values),
    ...surplus(name, operands),
    ...unfinished,
  ];
  if (problems.length > 0) throw new UsageError(problems);
  return new Arguments({ command: name, operands: [...operands, ...unknown], values });
}

/** commander takes whatever follows as the value of an option that may have one: it is told where there is none. */
function withoutTakenOperands(name: CommandName, argv: readonly string[]): string[] {
  const optional = OPTIONS[name].filter(({ takes }) => takes !== undefined);
  return argv.map((argument, index) => {
    const definition = optional.find((option) => optionName(option) === argument);
    const next = argv[index + 1];
    return definition === undefined || next === undefined || definition.takes!.test(next) ? argument : `${argument}=`;
  });
}

type ReadOptions = { operands: string[]; unknown: string[]; problems: string[] };

function readOptions(command: Command, argv: readonly string[]): ReadOptions {
  try {
    return { ...command.parseOptions([...argv]), problems: [] };
  } catch (error) {
    // Only the last argument can be an option without its value; the others are read all the same.
    if (!(error instanceof CommanderError) || error.code !== 'commander.optionMissingArgument') throw error;
    const flags = /'(.+)'/.exec(error.message)?.[1] ?? String(argv.at(-1));
    const { operands, unknown } = readOptions(command, argv.slice(0, -1));
    return { operands, unknown, problems: [`${flags.split(' ', 1)[0]} needs a value: ${flags}.`] };
  }
}

function valuesOf(name: CommandName, command: Command): Map<string, unknown> {
  const values = new Map<string, unknown>();
  for (const definition of OPTIONS[name]) {
    const key = optionFor(definition).attributeName();
    if (command.getOptionValueSource(key) === 'cli') values.set(optionName(definition), command.getOptionValue(key));
  }
  return values;
}

function unknownOptions(name: CommandName, unknown: readonly string[]): string[] {
  const end = unknown.indexOf('--');
  const known = OPTIONS[name].map(optionName);
  return unknown
    .slice(0, end < 0 ? undefined : end)
    .filter((argument) => argument.length > 1 && argument.startsWith('-'))
    .map((argument) => argument.split('=', 1)[0]!)
    .map((flag) => {
      if (known.includes(flag)) return `${flag} takes no value.`;
      return `Unknown option ${flag}.${didYouMean(flag, known)}${elsewhere(name, flag)} See millrace ${name} --help.`;
    });
}

function elsewhere(name: CommandName, flag: string): string {
  const others = (Object.keys(OPTIONS) as CommandName[]).filter(
    (other) => other !== name && OPTIONS[other].some((definition) => optionName(definition) === flag),
  );
  return others.length === 0 ? '' : ` It is an option of ${others.map((other) => `millrace ${other}`).join(', ')}.`;
}

function wrongValues(name: CommandName, values: ReadonlyMap<string, unknown>): string[] {
  const known = new Set(OPTIONS[name].map(optionName));
  return OPTIONS[name].flatMap((definition) => {
    const option = optionName(definition);
    const given = [values.get(option)].flat().filter((value) => typeof value === 'string');
    return given.flatMap((value) => wrongValue({ definition, option, value, known }));
  });
}

function surplus(name: CommandName, operands: readonly string[]): string[] {
  const operand = OPERANDS[name]?.name;
  if (operand?.endsWith('...]')) return [];
  if (operand === undefined && operands.length > 0)
    return [`millrace ${name} takes options only, not ${operands.join(' ')}. See millrace ${name} --help.`];
  if (operand === undefined || operands.length === 1) return [];
  return [`millrace ${name} takes one ${operand}, not ${operands.join(' ') || 'none'}. See millrace ${name} --help.`];
}

type GivenValue = { definition: OptionDefinition; option: string; value: string; known: ReadonlySet<string> };

function wrongValue({ definition, option, value, known }: GivenValue): string[] {
  // commander takes whatever follows as the value, were it the next option.
  if (known.has(value)) return [`${option} needs a value, and what follows is ${value}: ${definition.flags}.`];
  const choices = definition.choices;
  if (choices === undefined || choices.includes(value)) return [];
  return [`${option} must be ${choices.join(' or ')}, not "${value}".${didYouMean(value, choices)}`];
}
