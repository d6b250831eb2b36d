import type { Log } from '../core/log.ts';
import type { IncrementalWindow } from './incremental.ts';
import type { KeepOnce } from './keep-once.ts';
import { type CodePaginators, createPaginator } from './paginate/create-paginator.ts';
import { relayRecordPath } from './paginate/graphql-relay.ts';
import { createListing, type Listing } from './paginate/listing.ts';
import type { RecordCheck } from './record-check.ts';
import { compileRecordSelector, type RecordSelector } from './record-selector.ts';
import type { TreeNode } from './resource-tree.ts';
import type { Resource } from './resources.ts';
import { type ActionFinder, compileResponseActions } from './response-actions.ts';

/** A resource ready to work: everything compiled, nothing left to look up. */
export type ResourceRuntime = {
  node: TreeNode;
  resource: Resource;
  selector: RecordSelector;
  listing: Listing;
  findAction: ActionFinder;
  /** null = not incremental. */
  window: IncrementalWindow | null;
  /** null = no schema. */
  check: RecordCheck | null;
  /** Shared by the resources of a dataset; null = no primary key. */
  keepOnce: KeepOnce | null;
  /** Says a thing once. */
  say: (level: 'info' | 'warn', message: string) => void;
  /** Pages that may still be asked for; Infinity but with --sample. */
  pagesLeft: number;
};

export type RuntimeParts = {
  window: IncrementalWindow | null;
  check: RecordCheck | null;
  keepOnce: KeepOnce | null;
  code: CodePaginators;
  log: Log;
  samplePages: number | null;
};

/** @throws SelectorSyntaxError */
export function createRuntime(node: TreeNode, parts: RuntimeParts): ResourceRuntime {
  const { resource } = node;
  const { endpoint } = resource;
  const parallel = endpoint.parallelPages === 'auto' && parts.samplePages === null;
  return {
    node,
    resource,
    selector: recordSelectorOf(resource),
    listing: createListing(endpoint.paginator, createPaginator(endpoint.paginator, { parallel, code: parts.code })),
    findAction: compileResponseActions(endpoint.responseActions),
    window: parts.window,
    check: parts.check,
    keepOnce: parts.keepOnce,
    say: sayOnce(parts.log, resource.name),
    pagesLeft: parts.samplePages ?? Number.POSITIVE_INFINITY,
  };
}

function recordSelectorOf({ endpoint }: Resource): RecordSelector {
  const { dataSelector, paginator } = endpoint;
  if (dataSelector !== null || paginator.type !== 'graphqlRelay') return compileRecordSelector(dataSelector);
  return (body, options) => compileRecordSelector(relayRecordPath(paginator.connectionPath, body))(body, options);
}

// Some messages quote the server: a thousand listings must not make a thousand lines.
const MOST_SAID = 20;

function sayOnce(log: Log, resource: string): ResourceRuntime['say'] {
  const said = new Set<string>();
  return (level, message) => {
    if (said.has(message) || said.size >= MOST_SAID) return;
    said.add(message);
    log[level](`${resource}: ${message}`);
  };
}

/** @returns whether one more page may be asked for, and takes it */
export function takePage(runtime: ResourceRuntime): boolean {
  if (runtime.pagesLeft <= 0) return false;
  runtime.pagesLeft--;
  return true;
}
