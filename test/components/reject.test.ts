import { plays } from './support.ts';

describe('component reject', () => {
  plays('refuses with a status', {
    block: `
      reject: 603`,
    answered: false,
    exit: 'next',
    events: ['reject 603 Decline', 'ended by scenario: rejected 603'],
  });
});
