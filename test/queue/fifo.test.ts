import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Fifo } from '../../src/queue/fifo.ts';

test('behaves like an array, whatever is pushed, put back and taken', () => {
  const step = fc.oneof(
    fc.constant('shift'),
    fc.constant('unshift'),
    fc.constant('push'),
    fc.constant('drain'),
    fc.constant('cut'),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 3_000 }), (steps) => {
      const fifo = new Fifo<number>();
      const model: number[] = [];
      for (const [index, name] of steps.entries()) {
        if (name === 'push') {
          fifo.push(index);
          model.push(index);
        } else if (name === 'unshift') {
          fifo.unshift(index);
          model.unshift(index);
        } else if (name === 'cut') expect(fifo.cutAfter(3)).toEqual(model.splice(3));
        else if (name === 'drain') expect(fifo.drain()).toEqual(model.splice(0));
        else expect(fifo.shift()).toBe(model.shift());
        expect(fifo.length).toBe(model.length);
        expect(fifo.peek()).toBe(model[0]);
      }
    }),
    { numRuns: 50 },
  );
});

test('keeps no reference to what was taken', () => {
  const fifo = new Fifo<number>();
  for (let index = 0; index < 5_000; index++) fifo.push(index);
  for (let index = 0; index < 4_000; index++) expect(fifo.shift()).toBe(index);
  expect(fifo.length).toBe(1_000);
  expect(fifo.drain()[0]).toBe(4_000);
});
