import { readFileSync } from 'node:fs';
import type { Page, Route } from '../../src/routes/define-route.ts';
import { type RouteResult, runRoute } from '../../src/routes/run-route.ts';

type Facts = { url: string; userData?: Record<string, unknown> };

/** Runs a route on a response recorded in test/routes/fixtures, as a crawl would, without a network. */
export function runOnFixture(route: Route, name: string, { url, userData = {} }: Facts): RouteResult {
  return runRoute(route, { url, status: 200, headers: {}, body: readFixture(name), userData });
}

/** @returns the parsed fixture, integers beyond 2^53 as BigInt, as a crawl hands them to a route */
export function readFixture(name: string): unknown {
  const text = readFileSync(new URL(`fixtures/${name}`, import.meta.url), 'utf8');
  return JSON.parse(text, keepDigits);
}

// The third parameter is not in TypeScript's library yet.
function keepDigits(_key: string, value: unknown, context?: { source?: string }): unknown {
  return Number.isInteger(value) && !Number.isSafeInteger(value) ? BigInt(context?.source ?? '0') : value;
}

/** @returns a page as a route sees it, with the parts that the test gives */
export function pageOf(parts: Partial<Page>): Page {
  return { url: 'https://api.example.com/items', status: 200, headers: {}, body: {}, userData: {}, ...parts };
}
