/** A live call as another node needs it. */
import type { SharedCall } from '../../callstore/index.ts';
import { numberOf, urisOf } from '../legs/party.ts';
import { shownParty } from '../legs/shown-caller.ts';
import type { CallDialog } from './dialog.ts';

/** @param dialog as it is now */
export function sharedCall(dialog: CallDialog): SharedCall {
  return {
    entry: dialog.entry(),
    facts: dialog.facts(),
    sides: dialog.legs.map(({ leg, leg: { callid, party, sipPlace, home, sdpOrigin, endpoint }, side }) => ({
      callid,
      side,
      number: numberOf(party),
      uris: urisOf(party),
      domain: party.domain,
      sipUserId: party.kind === 'sipuser' ? party.sipUser.id : undefined,
      shown: shownParty(leg),
      sip: sipPlace,
      home,
      origin: sdpOrigin,
      media: endpoint?.place,
    })),
  };
}
