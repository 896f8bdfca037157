import { plays } from './support.ts';

describe('component answer', () => {
  plays('leaves a connected call as it is', {
    block: `
      answer:
      next: end`,
    exit: 'next',
    events: [],
  });
});
