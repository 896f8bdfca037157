import { plays } from './support.ts';

describe('component hangup', () => {
  plays('refuses an unanswered call with 480', {
    block: `
      hangup:`,
    answered: false,
    exit: 'next',
    events: ['reject 480 Temporarily Unavailable', 'ended by scenario: rejected 480'],
  });
});
