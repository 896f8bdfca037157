import { expect } from 'chai';
import { type RunEvent, type RunPhase, nextPhase } from '../../runtime/runs/run/phase.ts';

describe('run phase', () => {
  const table: readonly (readonly [RunPhase, RunEvent, boolean, RunPhase])[] = [
    ['main', 'branch_done', true, 'finally'],
    ['main', 'branch_done', false, 'finished'],
    ['main', 'interrupt', true, 'leaving'],
    ['main', 'interrupt', false, 'leaving'],
    ['leaving', 'branch_done', true, 'finally'],
    ['leaving', 'branch_done', false, 'finished'],
    ['leaving', 'interrupt', true, 'leaving'],
    ['finally', 'branch_done', true, 'finished'],
    ['finally', 'interrupt', true, 'aborting'],
    ['aborting', 'branch_done', true, 'finished'],
    ['aborting', 'interrupt', true, 'aborting'],
    ['finished', 'interrupt', true, 'finished'],
    ['finished', 'branch_done', true, 'finished'],
  ];
  for (const [phase, event, hasFinally, next] of table) {
    it(`${phase} + ${event} ${hasFinally ? 'with' : 'without'} finally is ${next}`, () => {
      expect(nextPhase(phase, event, hasFinally)).to.equal(next);
    });
  }
});
