import { expect } from 'chai';
import fc from 'fast-check';
import { asDomainName } from '../../runtime/domain-name/index.ts';
import { KEEP_MS, type OperationRecord, OperationRecords } from '../../runtime/operations/running/record.ts';
import { RESPONSE_MODES, afterReport, initialState, respond } from '../../runtime/operations/answer/response.ts';
import type { Report } from '../../runtime/runs/run/report.ts';

const answerOf = (status: number) => ({ status, reason: 'R', line: `SIP/2.0 ${status} R`, local: false });

/** Reports as a scenario makes them: F, then T when F answered, a provisional answer before the final one, then the end. */
const story = fc
  .record({
    fProvisional: fc.option(fc.constantFrom(100, 180, 183), { nil: undefined }),
    fFinal: fc.option(fc.constantFrom(200, 302, 404, 408, 486, 603), { nil: undefined }),
    transfers: fc.boolean(),
    tProvisional: fc.option(fc.constantFrom(180, 183), { nil: undefined }),
    tFinal: fc.option(fc.constantFrom(200, 302, 404, 408, 486, 487, 603), { nil: undefined }),
  })
  .map(({ fProvisional, fFinal, transfers, tProvisional, tFinal }) => {
    const reports: Report[] = [];
    const add = (milestone: string, status?: number): void =>
      void reports.push({
        milestone,
        at: reports.length,
        callid: 'c',
        dialogid: 'd',
        ...(status === undefined ? {} : { answer: answerOf(status) }),
      });
    add('F initiated');
    if (fProvisional !== undefined) add('F provisional', fProvisional);
    if (fFinal !== undefined) add('F final', fFinal);
    if (fFinal === 200 && transfers) {
      add('T initiated');
      if (tProvisional !== undefined) add('T provisional', tProvisional);
      if (tFinal !== undefined) add('T final', tFinal);
    }
    add('finished');
    return reports;
  });

/** Number of reports until the response, and the response. */
function play(reports: readonly Report[], mode: (typeof RESPONSE_MODES)[number]) {
  let state = initialState('ivr');
  for (const [index, report] of reports.entries()) {
    state = afterReport(state, report);
    const response = respond(state, mode);
    if (response) return { after: index, response };
  }
  return undefined;
}

describe('response modes', () => {
  it('answer every sequence of milestones, a higher mode never before a lower one', () => {
    fc.assert(
      fc.property(story, (reports) => {
        const times = RESPONSE_MODES.map((mode) => play(reports, mode)?.after ?? Infinity);
        expect(times.every(Number.isFinite)).to.equal(true);
        expect(times).to.deep.equal(times.toSorted((a, b) => a - b));
      }),
    );
  });

  it('have the fields of the specification', () => {
    fc.assert(
      fc.property(story, fc.constantFrom(...RESPONSE_MODES), (reports, mode) => {
        const { result, ivrcallid, ...target } = play(reports, mode)?.response ?? { result: 'none', ivrcallid: '' };
        expect(ivrcallid).to.equal('ivr');
        const names = Object.keys(target).toSorted();
        const transferred = reports.some(({ milestone }) => milestone === 'T initiated');
        if (result === 'ok') expect(names).to.deep.equal(mode < 3 ? [] : ['acallid', 'dialogid', 'last_response']);
        else if (result === 'undefined') expect(names).to.include('acallid').and.not.include('dialogid');
        else if (result === 'error' && !names.includes('sip_status')) expect(names).to.deep.equal([]);
        else
          expect(names).to.deep.equal([...(transferred ? ['acallid', 'last_response'] : []), 'reason', 'sip_status']);
      }),
    );
  });

  it('have the result undefined when the outcome of T is unknown', () => {
    let state = initialState('ivr');
    for (const [milestone, status] of [['F initiated'], ['F final', 200], ['T initiated'], ['finished']] as const) {
      state = afterReport(state, {
        milestone,
        at: 0,
        callid: 'a',
        dialogid: 'd',
        ...(status === undefined ? {} : { answer: answerOf(status) }),
      });
    }
    expect(respond(state, 3)).to.deep.equal({ result: 'undefined', ivrcallid: 'ivr', acallid: 'a' });
  });
});

describe('operation records', () => {
  const SCOPE = { domain: asDomainName('d') };
  const record = (id: string, startts: number): OperationRecord => ({
    id,
    domain: asDomainName('d'),
    operation: 'invite',
    response_mode: 3,
    startts,
    milestones: [],
  });

  it('are kept for an hour after their end', () => {
    const records = new OperationRecords();
    records.add(record('a', 0), 0);
    expect(records.read(SCOPE, 'a', 10 * KEEP_MS)?.id).to.equal('a');
    records.update('a', { endts: 1000 });
    expect(records.read(SCOPE, 'a', KEEP_MS + 999)?.id).to.equal('a');
    expect(records.read(SCOPE, 'a', KEEP_MS + 1000)).to.equal(undefined);
    records.add(record('b', 0), KEEP_MS + 1000);
    expect(records.size).to.equal(1);
  });

  it('are limited in number: the oldest finished one is dropped first, a running one never', () => {
    const records = new OperationRecords(3);
    for (const id of ['a', 'b', 'c']) records.add(record(id, 0), 0);
    records.update('b', { endts: 5 });
    records.add(record('d', 0), 10);
    expect(['a', 'b', 'c', 'd'].filter((id) => records.read(SCOPE, id, 10))).to.deep.equal(['a', 'c', 'd']);
    records.add(record('e', 0), 10);
    expect(records.size).to.equal(4);
  });
});
