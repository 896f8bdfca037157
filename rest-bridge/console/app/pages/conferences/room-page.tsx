/** A room: who is in it, who hears whom, and what a moderator can do. */
import { useSignal } from '@preact/signals';
import { useEffect, useRef, useState } from 'preact/hooks';
import { ApiError } from '../../lib/api.ts';
import { closeOver, link, openOver, over } from '../../lib/router.ts';
import { Problem } from '../../parts/problem.tsx';
import { toast } from '../../parts/toasts.tsx';
import { LiveRoom } from '../../stores/room.ts';
import { hearing, isDeaf, isMuted, onlyModerators, open, speaking } from '../../stores/room-commands.ts';
import { type Hearing, hears, nameOf, pairOf, peopleOf, type Person, type RoomEvent } from '../../stores/room-state.ts';
import { rightsIn, type RoomRights, type RoomScope, RoomService } from '../../stores/rooms.ts';
import { words } from '../../words/conferences.ts';
import { AddParticipant } from './add-participant.tsx';
import { EndDialog } from './end-dialog.tsx';
import { Matrix } from './matrix.tsx';
import { ParticipantDialog } from './participant-dialog.tsx';
import { RoomFacts } from './room-facts.tsx';

/** More are counted. */
const NAMED = 8;
/** Until they are known. */
const NO_RIGHTS: RoomRights = { change: false, add: false, remove: false, end: false };
/** The dialog before the end of the room; the others are named by participants. */
const END = 'end';

export interface RoomPageProps {
  readonly id: string;
  readonly scope: RoomScope;
}

export function RoomPage({ id, scope }: RoomPageProps) {
  const [service] = useState(() => new RoomService(scope, id));
  const [room] = useState(() => new LiveRoom(service));
  const found = useSignal<RoomRights | undefined>(undefined);
  const rights = found.value ?? NO_RIGHTS;
  const problem = useSignal<unknown>(undefined);
  const said = useSignal('');
  /** Pairs whose change is under way. */
  const pending = useSignal<ReadonlySet<string>>(new Set());
  const state = room.state.value;
  const people = state === undefined ? [] : peopleOf(state);
  const shown = people.find(({ participantid }) => participantid === openOver());
  const last = useRef<Person | undefined>(undefined);

  useEffect(() => room.follow(tellOfMissing), []);
  useEffect(() => {
    void rightsIn(scope).then((answer) => {
      found.value = answer;
    });
  }, []);
  // A dialog ends with its participant.
  useEffect(() => {
    if (shown === undefined && state !== undefined && ![undefined, END].includes(openOver())) {
      if (last.current !== undefined) toast(words('left', { name: last.current.label }));
      closeOver();
    }
    last.current = shown;
  }, [shown, state]);

  /** @param about who may leave at this moment, which is no error of the person */
  const attempt = async (work: Promise<void>, done: string, about: readonly Person[] = []): Promise<boolean> => {
    problem.value = undefined;
    const error = await failureOf(work);
    await room.reload();
    if (error === undefined) {
      said.value = done;
      return true;
    }
    const isGone = error instanceof ApiError && (error.status === 404 || error.status === 422);
    const left = about.find(({ participantid }) => !isThere(room, participantid));
    if (isGone && room.gone.value) return false;
    if (isGone && left !== undefined) toast(words('left', { name: left.label }));
    else problem.value = error;
    return false;
  };
  const change = (commands: readonly Hearing[], done: string, about: readonly Person[] = []): void =>
    void attempt(service.change(commands), done, about);
  const toggle = async (listener: Person, speaker: Person): Promise<void> => {
    if (state === undefined) return;
    const [to, from] = [listener.participantid, speaker.participantid];
    const pair = pairOf({ from, to });
    if (pending.value.has(pair)) return;
    pending.value = new Set([...pending.value, pair]);
    const enabled = !hears(state, to, from);
    const done = words(enabled ? 'hears' : 'hearsNot', { listener: listener.label, speaker: speaker.label });
    await attempt(service.change([{ from, to, enabled }]), done, [listener, speaker]);
    pending.value = new Set([...pending.value].filter((each) => each !== pair));
  };
  const mute = (person: Person): void => {
    if (state === undefined) return;
    const enabled = isMuted(state, person.participantid);
    const done = words(enabled ? 'unmuted' : 'muted', { name: person.label });
    change(speaking(people, person.participantid, enabled), done, people);
  };
  const deafen = (person: Person): void => {
    if (state === undefined) return;
    const enabled = isDeaf(state, person.participantid);
    const done = words(enabled ? 'hearsAll' : 'hearsNobody', { name: person.label });
    change(hearing(people, person.participantid, enabled), done, people);
  };
  const remove = (person: Person): void => {
    closeOver();
    void attempt(service.remove(person.participantid), words('removed', { name: person.label }), [person]);
  };
  const { change: mayChange, add: mayAdd, end: mayEnd } = rights;
  const silenced = onlyModerators(people);
  const hasModerators = people.some(({ moderator }) => moderator);
  return (
    <div class="page">
      <div class="bar">
        <a href={link([scope.page])}>← {words(scope.page === 'my-rooms' ? 'myRooms' : 'title')}</a>
        <h1>{words('roomName', { name: state?.conference.confroomnum ?? id })}</h1>
      </div>
      {room.gone.value && (
        <p class="card" role="status">
          {words('ended')}
        </p>
      )}
      <Problem error={room.problem.value} retry={() => void room.reload()} />
      {shown === undefined && <Problem error={problem.value} />}
      {state !== undefined && (
        <>
          <div class="bar">
            {mayAdd && (
              <AddParticipant
                add={async (number, key) => {
                  await service.add(number, key);
                  await room.reload();
                }}
              />
            )}
            {mayChange && (
              <>
                <button
                  type="button"
                  disabled={people.length < 2 || silenced.length === 0}
                  onClick={() => change(silenced, words(hasModerators ? 'allMutedBut' : 'allMuted'), people)}
                >
                  {words(hasModerators ? 'muteAllBut' : 'muteAll')}
                </button>
                <button
                  type="button"
                  disabled={state.parted.size === 0}
                  onClick={() => change(open(people), words('allHear'), people)}
                >
                  {words('allHear')}
                </button>
              </>
            )}
            {mayEnd && (
              <button type="button" class="danger" onClick={() => over(END)}>
                {words('end')}
              </button>
            )}
          </div>
          <section class="card room" aria-labelledby="hearing">
            <h2 id="hearing">{words('matrix')}</h2>
            <Talking people={people} />
            <Matrix
              state={state}
              people={people}
              pending={pending.value}
              editable={mayChange}
              onToggle={(listener, speaker) => void toggle(listener, speaker)}
              onMute={mute}
              onOpen={({ participantid }) => over(participantid)}
            />
            {found.value !== undefined && <p class="hint">{words(mayChange ? 'matrixHelp' : 'matrixHelpReader')}</p>}
          </section>
          <RoomFacts conference={state.conference} count={people.length} />
          {shown !== undefined && (
            <ParticipantDialog
              state={state}
              person={shown}
              rights={rights}
              problem={problem.value}
              onMute={() => mute(shown)}
              onDeafen={() => deafen(shown)}
              onRemove={() => remove(shown)}
              onClose={() => {
                problem.value = undefined;
                closeOver();
              }}
            />
          )}
          {openOver() === END && mayEnd && (
            <EndDialog
              count={people.length}
              onClose={closeOver}
              onEnd={() => {
                closeOver();
                void attempt(service.end(), '');
              }}
            />
          )}
        </>
      )}
      <p class="unseen" role="status">
        {said.value}
      </p>
    </div>
  );
}

async function failureOf(work: Promise<void>): Promise<unknown> {
  try {
    await work;
    return undefined;
  } catch (error) {
    return error;
  }
}

/** Says why somebody who was called into the room did not come. */
function tellOfMissing({ type, data: { ruri, last_response: answer } }: RoomEvent): void {
  if (type !== 'conf_leave' || typeof answer !== 'string') return;
  toast(words('missing', { name: nameOf(String(ruri)), answer: answer.replace('SIP/2.0 ', '') }));
}

function isThere(room: LiveRoom, id: string): boolean {
  return room.state.value?.participants.some(({ participantid }) => participantid === id) === true;
}

/** It changes all the time, so it is not read out by itself. */
function Talking({ people }: { readonly people: readonly Person[] }) {
  const names = people.filter(({ talking }) => talking).map(({ label }) => label);
  const shown = names.slice(0, NAMED).join(', ');
  const more = names.length > NAMED ? ` ${words('andMore', { n: names.length - NAMED })}` : '';
  return <p class="talking">{names.length === 0 ? words('nobodyTalks') : words('talking', { names: shown + more })}</p>;
}
