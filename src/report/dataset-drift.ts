import type { SchemaDrift } from '../core/summary.ts';
import type { DatasetProfile, FieldProfile } from './dataset-profile.ts';

// Below, a share moves by chance.
const NOTABLE_SHARE = 0.1;
// How likely chance alone may explain a difference that is told all the same.
const LIKELY_CHANCE = 0.05;
// Standard deviations: a share of a few records moves a lot.
const NOTABLE_DEVIATIONS = 3;

/**
 * What has changed since an earlier run: fields that came or went, types that are new (an integer that becomes a number
 * is none), and shares of null or missing values that moved by more than a tenth. Only samples are compared, so what
 * chance explains is left out: a field of one record in a thousand that is not among the first ten thousand again, say.
 */
export function driftBetween(before: DatasetProfile, after: DatasetProfile): SchemaDrift[] {
  const earlier = new Map(before.fields.map((field) => [field.path, field]));
  const later = new Map(after.fields.map((field) => [field.path, field]));
  const paths = new Set([...earlier.keys(), ...later.keys()]);
  // Keys that are data: which of them are listed is chance.
  const isCut = before.moreFields > 0 || after.moreFields > 0;
  const context = { dataset: after.name, isCut, places: placesIn(before, after) };
  return [...paths].flatMap((path) => driftOf(path, { before: earlier.get(path), after: later.get(path) }, context));
}

type Pair = { before: FieldProfile | undefined; after: FieldProfile | undefined };
type Context = { dataset: string; isCut: boolean; places: (path: string) => { before: number; after: number } };

function driftOf(field: string, { before, after }: Pair, { dataset, isCut, places }: Context): SchemaDrift[] {
  if (before === undefined || after === undefined) {
    const { before: placesBefore, after: placesAfter } = places(field);
    const missedPlaces = before === undefined ? placesBefore : placesAfter;
    if (isCut || mayBeMissed((before ?? after)!, missedPlaces)) return [];
    const change = before === undefined ? 'added' : 'removed';
    return [{ dataset, field, change, before: typesText(before), after: typesText(after) }];
  }
  if (hasNewType(before, after))
    return [{ dataset, field, change: 'type', before: typesText(before), after: typesText(after) }];
  const [emptyBefore, emptyAfter] = [emptyShare(before), emptyShare(after)];
  if (!isNotable(before, after)) return [];
  return [{ dataset, field, change: 'empty', before: percent(emptyBefore), after: percent(emptyAfter) }];
}

/** How many objects could have had a field that is not there: those its neighbours stood in, or that had none. */
function placesIn(before: DatasetProfile, after: DatasetProfile): Context['places'] {
  const placesOf = ({ fields, sampled }: DatasetProfile, path: string): number => {
    const parent = path.slice(0, Math.max(path.lastIndexOf('.'), 0));
    if (parent === '') return sampled;
    const neighbour = fields.find((field) => field.path.startsWith(`${parent}.`));
    return neighbour?.places ?? filledPlaces(fields.find((field) => field.path === parent));
  };
  return (path) => ({ before: placesOf(before, path), after: placesOf(after, path) });
}

function filledPlaces(field: FieldProfile | undefined): number {
  return field === undefined ? 0 : Math.round(field.places * (1 - emptyShare(field)));
}

/** Whether a field as frequent as this one would now and then be in none of so many places. */
function mayBeMissed({ missingShare, places }: FieldProfile, others: number): boolean {
  // Laplace's rule: of few places little is known.
  const share = ((1 - missingShare) * places + 1) / (places + 2);
  return (1 - share) ** others > LIKELY_CHANCE;
}

function hasNewType(before: FieldProfile, after: FieldProfile): boolean {
  const known = new Set(before.types);
  const isKnown = (type: string): boolean => known.has(type) || (isNumeric(type) && [...known].some(isNumeric));
  return known.size > 0 && !after.types.every(isKnown);
}

function isNumeric(type: string): boolean {
  return type === 'integer' || type === 'number';
}

function isNotable(before: FieldProfile, after: FieldProfile): boolean {
  const difference = Math.abs(emptyShare(before) - emptyShare(after));
  const pooled =
    (emptyShare(before) * before.places + emptyShare(after) * after.places) / (before.places + after.places);
  const deviation = Math.sqrt(pooled * (1 - pooled) * (1 / before.places + 1 / after.places));
  return difference > Math.max(NOTABLE_SHARE, NOTABLE_DEVIATIONS * deviation);
}

/** Null, or not there: APIs leave nulls out, and back in, as they like. */
function emptyShare({ nullShare, missingShare }: FieldProfile): number {
  return nullShare + missingShare;
}

function typesText(field: FieldProfile | undefined): string | null {
  if (field === undefined) return null;
  return field.types.length === 0 ? 'null' : field.types.join(' | ');
}

function percent(share: number): string {
  return `${Math.round(share * 100)} %`;
}
