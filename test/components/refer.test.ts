import { plays } from './support.ts';

describe('component refer', () => {
  plays('connects the call with its target', {
    block: `
      refer: { to: "102" }
      exits: { refused: end }`,
    exit: 'answered',
    result: { status: 200, last_response: 'SIP/2.0 200 OK', callid: 'a@simulation', dialogid: 'dialog-2' },
    events: ['refer 102', 'ended by transfer: transferred'],
  });

  plays('returns the call to the scenario when the target refuses', {
    block: `
      refer: { to: "102" }
      exits: { refused: end }`,
    script: { target: [{ after: 10, status: 486 }] },
    exit: 'busy',
    events: ['refer 102', 'hangup', 'ended by scenario: hangup'],
  });
});
