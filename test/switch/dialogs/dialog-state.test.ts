import { expect } from 'chai';
import { asDomainName } from '../../../runtime/domain-name/index.ts';
import { freshState } from '../../../runtime/switch/dialogs/carried-state.ts';
import { CallDialog } from '../../../runtime/switch/dialogs/dialog.ts';
import {
  DIALOG_TRANSITIONS,
  type DialogState,
  type DialogStateEvent,
} from '../../../runtime/switch/dialogs/dialog-state.ts';
import type { EndCause, Leg } from '../../../runtime/switch/legs/leg.ts';
import { type ExpectedTransitions, itFollows, pairsOf } from '../../support/transitions.ts';

const EXPECTED: ExpectedTransitions<DialogState, DialogStateEvent> = {
  forking: { answered: 'dialog', left: '-', returned: '-', over: 'ended' },
  dialog: { answered: '-', left: 'suspended', returned: '-', over: 'ended' },
  suspended: { answered: '-', left: '-', returned: 'dialog', over: 'ended' },
  ended: { answered: '-', left: '-', returned: '-', over: '-' },
};

/** What leads from a new dialog to each state. */
const WAYS: Readonly<Record<DialogState, readonly DialogStateEvent[]>> = {
  forking: [],
  dialog: ['answered'],
  suspended: ['answered', 'left'],
  ended: ['over'],
};

const HANGUP: EndCause = { by: 'external', status: 487, reason: 'Request Terminated' };

function leg(callid: string, released: string[]): Leg {
  return {
    callid,
    party: { kind: 'unknown', domain: asDomainName('example.test'), number: callid },
    endpoint: undefined,
    mediaServer: undefined,
    held: false,
    owner: undefined,
    release: () => released.push(callid),
  };
}

/** A dialog from a to b, and the reports to its observer and its legs. */
class Watched {
  readonly reported: string[] = [];
  readonly a = leg('a', this.reported);
  readonly b = leg('b', this.reported);
  readonly dialog = new CallDialog(
    {
      changed: () => this.reported.push('changed'),
      established: () => this.reported.push('established'),
      connected: () => this.reported.push('connected'),
      held: () => this.reported.push('held'),
      gone: () => this.reported.push('gone'),
      over: () => this.reported.push('over'),
      left: () => this.reported.push('left'),
    },
    {
      a: this.a,
      localuri: '<sip:b@example.test>',
      remoteuri: '<sip:a@example.test>',
      site: 'here',
      carried: freshState(),
    },
  );

  constructor(events: readonly DialogStateEvent[]) {
    this.dialog.addBranch(this.b, { localuri: '<sip:b@example.test>', remoteuri: '<sip:a@example.test>' }, 'undefined');
    for (const event of events) this.happen(event);
    this.reported.length = 0;
  }

  happen(event: DialogStateEvent): void {
    if (event === 'answered') this.dialog.establish(this.b);
    else if (event === 'left') this.dialog.suspend(this.b);
    else if (event === 'returned') this.dialog.resume(this.b);
    else this.dialog.end(HANGUP);
  }
}

describe('transition table of a dialog', () => {
  itFollows(DIALOG_TRANSITIONS, EXPECTED);
});

describe('call dialog', () => {
  for (const { from, event, to } of pairsOf(EXPECTED)) {
    if (to === '-' && event === 'left') {
      it(`throws when a leg leaves while the dialog is ${from}`, () => {
        const { dialog, b } = new Watched(WAYS[from]);
        expect(() => dialog.suspend(b)).to.throw(`the dialog is ${from}: its leg cannot leave`);
        expect(dialog.state).to.equal(from);
      });
    } else {
      it(
        to === '-' ? `stays ${from} at ${event}, and reports nothing` : `goes from ${from} to ${to} at ${event}`,
        () => {
          const watched = new Watched(WAYS[from]);
          watched.happen(event);
          expect(watched.dialog.state).to.equal(to === '-' ? from : to);
          if (to === '-') expect(watched.reported).to.deep.equal([]);
          else expect(watched.reported).not.to.deep.equal([]);
        },
      );
    }
  }

  it('is gone once: a suspended dialog that ends is not reported again', () => {
    const watched = new Watched(WAYS.suspended);
    watched.happen('over');
    expect(watched.reported).to.deep.equal(['over', 'a']);
  });

  it('releases both legs when it ends', () => {
    const watched = new Watched(WAYS.dialog);
    watched.happen('over');
    expect(watched.reported).to.deep.equal(['gone', 'over', 'a', 'b']);
    expect(watched.dialog.ended.reason).to.equal(HANGUP);
  });

  it('is not established by a leg that it did not call', () => {
    const watched = new Watched([]);
    expect(watched.dialog.establish(leg('c', []))).to.equal(false);
    expect(watched.dialog.state).to.equal('forking');
  });
});
