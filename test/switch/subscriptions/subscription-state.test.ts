import { NOTIFY_TRANSITIONS } from '../../../runtime/switch/subscriptions/subscription-state.ts';
import { itFollows } from '../../support/transitions.ts';

describe('the NOTIFYs of a subscription', () => {
  itFollows(NOTIFY_TRANSITIONS, {
    idle: { change: 'sending', answered: '-', failed: '-', rested: '-', over: 'ended' },
    sending: { change: 'changed', answered: 'resting', failed: 'due', rested: '-', over: 'ended' },
    changed: { change: '-', answered: 'due', failed: 'due', rested: '-', over: 'ended' },
    resting: { change: 'due', answered: '-', failed: '-', rested: 'idle', over: 'ended' },
    due: { change: '-', answered: '-', failed: '-', rested: 'sending', over: 'ended' },
    ended: { change: '-', answered: '-', failed: '-', rested: '-', over: '-' },
  });
});
