import { defineConfig } from 'vitest/config';

// What these show is where time goes and what a limit lets through: beside other tests they would measure those.
const ALONE = ['test/measure/**/*.test.ts', 'test/e2e/workers.test.ts'];
const TOOLS = 'test/tools/**';

export default defineConfig({
  test: {
    pool: 'forks',
    testTimeout: 120_000,
    hookTimeout: 120_000,
    // Machines of CI are shared: real processes, sockets and clocks may meet a pause. A test that needs more than one
    // try is reported as such.
    retry: process.env.CI ? 2 : 0,
    projects: [
      {
        extends: true,
        test: {
          name: 'side by side',
          include: ['test/**/*.test.ts'],
          exclude: [TOOLS, ...ALONE],
          maxWorkers: 2,
          sequence: { groupOrder: 1 },
        },
      },
      {
        extends: true,
        test: {
          name: 'alone',
          include: ALONE,
          exclude: [TOOLS],
          maxWorkers: 1,
          sequence: { groupOrder: 2 },
          retry: process.env.CI ? 4 : 0,
        },
      },
    ],
  },
});
