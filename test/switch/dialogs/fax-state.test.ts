import { FAX_TRANSITIONS, type FaxEvent, type FaxState } from '../../../runtime/switch/dialogs/fax-state.ts';
import { type ExpectedTransitions, itFollows } from '../../support/transitions.ts';

const NONE = {
  fax: '-',
  sound: '-',
  agreed: '-',
  refused: '-',
  'given-up': '-',
  settled: '-',
  over: 'ended',
} as const;

const EXPECTED: ExpectedTransitions<FaxState, FaxEvent> = {
  sound: { ...NONE, fax: 'asking' },
  asking: { ...NONE, agreed: 'fax', refused: 'sound', 'given-up': 'late' },
  late: { ...NONE, settled: 'sound' },
  fax: { ...NONE, sound: 'returning' },
  returning: { ...NONE, agreed: 'sound', refused: 'fax' },
  ended: { ...NONE, over: '-' },
};

describe('transition table of a fax between two phones', () => {
  itFollows(FAX_TRANSITIONS, EXPECTED);
});
