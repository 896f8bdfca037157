import { plays } from './support.ts';

describe('component ring', () => {
  plays('sends ringing', {
    block: `
      ring:
      next: end`,
    answered: false,
    exit: 'next',
    events: ['ring', 'reject 480 Temporarily Unavailable', 'ended by scenario: rejected 480'],
  });
});
