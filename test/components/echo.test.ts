import { plays } from './support.ts';

describe('component echo', () => {
  plays('ends after its time', {
    block: `
      echo: 30s
      next: end`,
    exit: 'next',
    milliseconds: 30_000,
    events: ['echo'],
  });

  plays('ends with the call', {
    block: `
      echo:
      next: end`,
    script: { hangsUpAfter: 4000 },
    exit: 'interrupted',
    milliseconds: 4000,
  });
});
