import { type FieldUse, fieldsUsed, type Resource } from './resources.ts';

/** Where a resource hangs: which record its requests are made from, and what they take along. */
export type TreeNode = {
  resource: Resource;
  /** null = it starts from the configuration alone. */
  parent: string | null;
  children: string[];
  /** Fields that its own requests and those below it need, of each resource above. */
  needs: readonly FieldUse[];
};

export type ResourceTree = ReadonlyMap<string, TreeNode>;

/** A tree that cannot be: at `resource`, because of `message`. */
export type TreeProblem = { resource: string; message: string };

/**
 * Finds each resource's parent: the deepest of those its placeholders name, all of which must lie on one line.
 * Placeholders that name no resource are left out here (checkApi tells of them).
 */
export function buildTree(resources: readonly Resource[]): { tree: ResourceTree; problems: TreeProblem[] } {
  const known = new Map(resources.map((resource) => [resource.name, resource]));
  const uses = new Map(resources.map((resource) => [resource.name, knownUses(resource, known)]));
  const cycle = findCycle(uses);
  if (cycle !== null) {
    const message = `resources need each other in a circle: ${[...cycle, cycle[0]].join(' -> ')}`;
    return { tree: new Map(), problems: [{ resource: cycle[0]!, message }] };
  }
  const parents = new Map<string, string | null>();
  const problems: TreeProblem[] = [];
  for (const name of inOrder(uses)) parents.set(name, parentOf(name, uses.get(name)!, parents, problems));
  return { tree: makeNodes(resources, parents, uses), problems };
}

type Uses = ReadonlyMap<string, readonly FieldUse[]>;

function knownUses(resource: Resource, known: ReadonlyMap<string, Resource>): FieldUse[] {
  return fieldsUsed(resource).filter((use) => known.has(use.resource));
}

function findCycle(uses: Uses): string[] | null {
  const done = new Set<string>();
  const walk = (name: string, trail: readonly string[]): string[] | null => {
    if (trail.includes(name)) return trail.slice(trail.indexOf(name));
    if (done.has(name)) return null;
    for (const { resource } of uses.get(name)!) {
      const cycle = walk(resource, [...trail, name]);
      if (cycle !== null) return cycle;
    }
    done.add(name);
    return null;
  };
  for (const name of uses.keys()) {
    const cycle = walk(name, []);
    if (cycle !== null) return cycle;
  }
  return null;
}

/** Names, those a resource needs before it. */
function inOrder(uses: Uses): string[] {
  const order = new Set<string>();
  const visit = (name: string): void => {
    if (order.has(name)) return;
    for (const { resource } of uses.get(name)!) visit(resource);
    order.add(name);
  };
  for (const name of uses.keys()) visit(name);
  return [...order];
}

function parentOf(
  name: string,
  uses: readonly FieldUse[],
  parents: ReadonlyMap<string, string | null>,
  problems: TreeProblem[],
): string | null {
  const named = [...new Set(uses.map((use) => use.resource))];
  const lines = named.map((resource) => [resource, ...ancestorsOf(resource, parents)]);
  const longest = lines.toSorted((a, b) => b.length - a.length)[0];
  if (longest === undefined) return null;
  const stranger = named.find((resource) => !longest.includes(resource));
  if (stranger !== undefined)
    problems.push({
      resource: name,
      message: `it needs records of both ${longest[0]} and ${stranger}, of which neither is made from the other`,
    });
  return longest[0]!;
}

/** @returns the resources above one, nearest first */
export function ancestorsOf(name: string, parents: ReadonlyMap<string, string | null>): string[] {
  const above: string[] = [];
  for (let parent = parents.get(name) ?? null; parent !== null; parent = parents.get(parent) ?? null)
    above.push(parent);
  return above;
}

function makeNodes(
  resources: readonly Resource[],
  parents: ReadonlyMap<string, string | null>,
  uses: Uses,
): ResourceTree {
  const childrenOf = (name: string): string[] =>
    resources.filter((child) => parents.get(child.name) === name).map((child) => child.name);
  const needsOf = (name: string): FieldUse[] => [...uses.get(name)!, ...childrenOf(name).flatMap(needsOf)];
  const node = (resource: Resource): TreeNode => ({
    resource,
    parent: parents.get(resource.name) ?? null,
    children: childrenOf(resource.name),
    needs: needsOf(resource.name),
  });
  return new Map(resources.map((resource) => [resource.name, node(resource)]));
}
