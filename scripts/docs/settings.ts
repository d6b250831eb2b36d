import { z } from 'zod';
import { hostSchema } from '../../src/config/host-schema.ts';
import { inputSchema } from '../../src/config/input-schema.ts';
import { benchSchema, probeSchema, rampSchema } from '../../src/config/measure-schema.ts';
import { practiceApiSchema } from '../../src/config/practice-api-schema.ts';

/** One key of a schema, as the documentation shows it. */
export type SettingFacts = { path: string; description: string; default: unknown; type: string };

type JsonSchema = {
  type?: string;
  description?: string;
  default?: unknown;
  enum?: unknown[];
  anyOf?: JsonSchema[];
  items?: JsonSchema;
  properties?: Record<string, JsonSchema>;
  additionalProperties?: JsonSchema | boolean;
  minimum?: number;
  maximum?: number;
  exclusiveMinimum?: number;
  exclusiveMaximum?: number;
};

/** The whole input document, for editors. Draft 7 is what YAML and JSON language servers know best. */
export function inputJsonSchema(): object {
  const title = 'millrace input document';
  return { title, ...z.toJSONSchema(inputSchema, { io: 'input', target: 'draft-7' }) };
}

/** Every key that is a value of its own, with its path from the top: host settings as `hosts.*.retry.maxRetries`. */
export function allSettings(): SettingFacts[] {
  return [
    ...settingsOf(inputSchema, '').filter(({ path }) => path !== 'api'),
    ...settingsOf(hostSchema, 'hosts.*.'),
    ...settingsOf(practiceApiSchema, 'practiceApi.'),
    ...settingsOf(probeSchema, 'probe.'),
    ...settingsOf(rampSchema, 'ramp.'),
    ...settingsOf(benchSchema, 'bench.'),
  ];
}

function settingsOf(schema: z.ZodObject, prefix: string): SettingFacts[] {
  return leaves(z.toJSONSchema(schema, { io: 'input' }) as JsonSchema, prefix);
}

function leaves({ properties = {} }: JsonSchema, prefix: string): SettingFacts[] {
  return Object.entries(properties).flatMap(([key, child]) => {
    const path = prefix + key;
    if (child.properties !== undefined && key !== 'api') return leaves(child, `${path}.`);
    return [{ path, description: child.description ?? '', default: child.default ?? null, type: typeText(child) }];
  });
}

function typeText(schema: JsonSchema): string {
  if (schema.anyOf !== undefined) return schema.anyOf.map(typeText).join(' or ');
  if (schema.enum !== undefined) return schema.enum.map((value) => `\`${value}\``).join(', ');
  if (schema.type === 'array') return `list of ${typeText(schema.items ?? {})}`;
  if (schema.type === 'object') return 'object';
  if (schema.type === 'integer') return rangeText('whole number', schema);
  if (schema.type === 'number') return rangeText('number', schema);
  return { string: 'text', boolean: '`true` or `false`', null: '`null`' }[schema.type ?? ''] ?? 'anything';
}

function rangeText(kind: string, { minimum, maximum, exclusiveMinimum, exclusiveMaximum }: JsonSchema): string {
  const from =
    exclusiveMinimum === undefined ? (minimum === undefined ? '' : ` from ${minimum}`) : ` over ${exclusiveMinimum}`;
  const isOpen = maximum === undefined || maximum === Number.MAX_SAFE_INTEGER;
  const to = exclusiveMaximum === undefined ? (isOpen ? '' : ` to ${maximum}`) : ` below ${exclusiveMaximum}`;
  return kind + from + to;
}
