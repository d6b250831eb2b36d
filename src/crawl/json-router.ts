import { Router } from '@crawlee/core';

const labels = new WeakMap<object, string[]>();

/**
 * Crawlee's `Router.create`, which remembers its labels, so that the failure of a request with an unknown one can name
 * the known ones. Takes handlers by label, or zod schemas of their userData.
 */
export const createJsonRouter: typeof Router.create = (...given: unknown[]) => {
  const create = Router.create as (...given: unknown[]) => ReturnType<typeof Router.create>;
  const router = create(...given);
  const own = Object.entries(given[0] ?? {}).flatMap(([label, value]) => (typeof value === 'function' ? [label] : []));
  const add = router.addHandler as (...args: unknown[]) => void;
  Object.assign(router, {
    addHandler: (...args: unknown[]) => {
      own.push(String(args[0]));
      add(...args);
    },
  });
  labels.set(router, own);
  return router as never;
};

/** @returns the labels of a router made by `createJsonRouter`; none of another, which does not tell */
export function labelsOfRouter(router: unknown): readonly string[] {
  return (typeof router === 'function' && labels.get(router)) || [];
}
