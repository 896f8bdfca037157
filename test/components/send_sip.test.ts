import { expect } from 'chai';
import { problems, simulate } from '../support/scenarios.ts';
import { scenarioOf } from './support.ts';

describe('component send_sip', () => {
  const notify = (event: string) =>
    scenarioOf(`
      send_sip: { method: NOTIFY, event: ${event} }
      exits: { next: end, refused: end }`);

  it('takes the event of a NOTIFY from an expression, which must have a value', async () => {
    const { steps } = await simulate(notify('"${call.number}"'), { from: '101' });
    expect(steps).to.deep.equal(['pick_up -> next', 'it -> next']);
    expect((await simulate(notify('"${call.name}"'), {})).outcome.error).to.include({ code: 'setting', block: 'it' });
    expect(problems(notify('""'))[0]).to.match(/with NOTIFY needs "event"/);
  });
});
