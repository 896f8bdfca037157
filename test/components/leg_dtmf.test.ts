import { expect } from 'chai';
import { simulate } from '../support/scenarios.ts';
import { scenarioOf } from './support.ts';

describe('component leg_dtmf', () => {
  it("sends digits to the scenario's own caller, by the ids of its call", async () => {
    const keys = `
      leg_dtmf: { dialogid: "\${call.dialogid}", callid: "\${call.callid}", dtmf: "1" }
      next: end`;
    const { steps } = await simulate(scenarioOf(keys));
    expect(steps).to.deep.equal(['pick_up -> next', 'it -> next']);
  });
});
