import { plays } from './support.ts';

describe('component wait', () => {
  plays('takes as long as its duration', {
    block: `
      wait: 1.5s
      next: end`,
    exit: 'next',
    milliseconds: 1500,
  });
});
