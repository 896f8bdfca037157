/** What can be done with one participant. */
import { userOf } from '../../lib/uri.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { Facts } from '../../parts/facts.tsx';
import { NumberToCall } from '../../parts/number.tsx';
import { Problem } from '../../parts/problem.tsx';
import { isDeaf, isMuted } from '../../stores/room-commands.ts';
import type { Person, RoomState } from '../../stores/room-state.ts';
import type { RoomRights } from '../../stores/rooms.ts';
import { words } from '../../words/conferences.ts';
import { words as shell } from '../../words/shell.ts';
import { stateText } from './matrix.tsx';

export interface ParticipantDialogProps {
  readonly state: RoomState;
  readonly person: Person;
  readonly rights: RoomRights;
  readonly problem: unknown;
  readonly onMute: () => void;
  readonly onDeafen: () => void;
  readonly onRemove: () => void;
  readonly onClose: () => void;
}

export function ParticipantDialog(props: ParticipantDialogProps) {
  const { state: room, person, rights, problem, onMute, onDeafen, onRemove, onClose } = props;
  const { participantid, label: name, ruri, state, callid, talking, moderator } = person;
  const now = [stateText(state), moderator && words('moderator'), talking && words('talks')];
  return (
    <Dialog title={name} onClose={onClose}>
      <Facts
        facts={[
          [words('number'), <NumberToCall number={userOf(ruri)} />],
          [words('state'), now.filter(Boolean).join(', ')],
          [words('uri'), <code>{ruri}</code>],
          [words('callid'), <code>{callid}</code>],
        ]}
      />
      <Problem error={problem} />
      <div class="buttons">
        {rights.change && room.participants.length > 1 && (
          <>
            <button type="button" onClick={onMute}>
              {words(isMuted(room, participantid) ? 'unmute' : 'mute', { name })}
            </button>
            <button type="button" onClick={onDeafen}>
              {words(isDeaf(room, participantid) ? 'undeafen' : 'deafen', { name })}
            </button>
          </>
        )}
        {rights.remove && (
          <button type="button" class="danger" onClick={onRemove}>
            {words('remove')}
          </button>
        )}
        <button type="button" onClick={onClose}>
          {shell('close')}
        </button>
      </div>
    </Dialog>
  );
}
