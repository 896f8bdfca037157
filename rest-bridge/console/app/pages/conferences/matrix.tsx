/** Who hears whom, as a grid: a row for each listener, a column for each speaker. Only the cells in sight are in the page. */
import { useSignal } from '@preact/signals';
import { useId, useLayoutEffect, useRef } from 'preact/hooks';
import { isMuted } from '../../stores/room-commands.ts';
import { hears, pairOf, type Person, type RoomState } from '../../stores/room-state.ts';
import { words } from '../../words/conferences.ts';

/** Pixels; as `--cell` and `--heads` in styles. */
const CELL = 36;
const HEADS = 96;
const SPARE = 4;
/** The column of the names. */
const NAME = -1;

export interface MatrixProps {
  readonly state: RoomState;
  readonly people: readonly Person[];
  /** Pairs whose change is under way. */
  readonly pending: ReadonlySet<string>;
  /** The person may change who hears whom. */
  readonly editable: boolean;
  readonly onToggle: (listener: Person, speaker: Person) => void;
  readonly onMute: (person: Person) => void;
  readonly onOpen: (person: Person) => void;
}

export function Matrix({ state, people, pending, editable, onToggle, onMute, onOpen }: MatrixProps) {
  const id = useId();
  const scroller = useRef<HTMLDivElement>(null);
  const corner = useRef<HTMLDivElement>(null);
  const top = useSignal(0);
  const left = useSignal(0);
  const size = useSignal({ rows: 20, columns: 20 });
  /** By ids: people come and go meanwhile. */
  const active = useSignal<{ readonly listener: string; readonly speaker: string }>({ listener: '', speaker: '' });
  const at = useRef({ row: 0, column: NAME });

  useLayoutEffect(() => {
    const element = scroller.current;
    if (element === null) return undefined;
    const observer = new ResizeObserver(() => {
      size.value = {
        rows: Math.ceil(element.clientHeight / CELL) + 1,
        columns: Math.ceil(element.clientWidth / CELL) + 1,
      };
    });
    observer.observe(element);
    return () => observer.disconnect();
  }, []);

  const indexOf = (wanted: string, before: number): number => {
    const found = people.findIndex(({ participantid }) => participantid === wanted);
    return found >= 0 ? found : Math.min(before, people.length - 1);
  };
  const row = Math.max(0, indexOf(active.value.listener, at.current.row));
  const column = active.value.speaker === '' ? NAME : indexOf(active.value.speaker, at.current.column);
  at.current = { row, column };

  const move = (toRow: number, toColumn: number): void => {
    const next = {
      row: Math.max(0, Math.min(people.length - 1, toRow)),
      column: Math.max(NAME, Math.min(people.length - 1, toColumn)),
    };
    at.current = next;
    active.value = {
      listener: people[next.row]?.participantid ?? '',
      speaker: people[next.column]?.participantid ?? '',
    };
    const element = scroller.current;
    if (element === null) return;
    // The heads cover what is behind them.
    const height = element.clientHeight - HEADS - CELL;
    element.scrollTop = Math.min(next.row * CELL, Math.max(element.scrollTop, next.row * CELL - height));
    if (next.column === NAME) return;
    const width = element.clientWidth - (corner.current?.offsetWidth ?? 0) - CELL;
    element.scrollLeft = Math.min(next.column * CELL, Math.max(element.scrollLeft, next.column * CELL - width));
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.altKey || event.metaKey) return;
    const page = Math.max(1, size.value.rows - 4);
    const last = people.length - 1;
    const listener = people[row];
    const speaker = people[column];
    const keys: Record<string, () => void> = {
      ArrowDown: () => move(row + 1, column),
      ArrowUp: () => move(row - 1, column),
      ArrowRight: () => move(row, column + 1),
      ArrowLeft: () => move(row, column - 1),
      PageDown: () => move(row + page, column),
      PageUp: () => move(row - page, column),
      Home: () => move(event.ctrlKey ? 0 : row, NAME),
      End: () => move(event.ctrlKey ? last : row, last),
      m: () => listener !== undefined && mayMute && onMute(listener),
      ' ': () => listener !== undefined && press(listener, speaker),
      Enter: () => listener !== undefined && press(listener, speaker),
    };
    const run = keys[event.key];
    if (run === undefined || (event.ctrlKey && !['Home', 'End'].includes(event.key))) return;
    event.preventDefault();
    run();
  };
  const press = (listener: Person, speaker: Person | undefined): void => {
    if (speaker === undefined) onOpen(listener);
    else if (speaker !== listener && editable) onToggle(listener, speaker);
  };

  const mayMute = editable && people.length > 1;
  const rows = windowOf(people, top.value, size.value.rows);
  const columns = windowOf(people, left.value, size.value.columns);
  const cellId = (listener: Person, speaker?: Person): string =>
    `${id}-${listener.participantid}-${speaker?.participantid ?? 'name'}`;
  const listener = people[row];
  return (
    <div
      ref={scroller}
      class={editable ? 'matrix editable' : 'matrix'}
      style={{ '--size': people.length }}
      role="grid"
      tabIndex={0}
      aria-label={words('matrix')}
      aria-multiselectable
      aria-readonly={!editable}
      aria-rowcount={people.length + 1}
      aria-colcount={people.length + 1}
      aria-activedescendant={listener === undefined ? undefined : cellId(listener, people[column])}
      onKeyDown={onKeyDown}
      onScroll={({ currentTarget }) => {
        top.value = Math.floor(currentTarget.scrollTop / CELL);
        left.value = Math.floor(currentTarget.scrollLeft / CELL);
      }}
    >
      <div class="heads" role="row" aria-rowindex={1}>
        <div ref={corner} class="corner" role="columnheader" aria-colindex={1}>
          {words('corner')}
        </div>
        {columns.map(({ person, index }) => (
          <div
            key={person.participantid}
            class={person.talking ? 'speaker talks' : 'speaker'}
            role="columnheader"
            aria-colindex={index + 2}
            title={person.label}
            style={{ '--at': index }}
          >
            <span>{person.label}</span>
          </div>
        ))}
      </div>
      {rows.map(({ person: each, index }) => (
        <div key={each.participantid} class="listener" role="row" aria-rowindex={index + 2} style={{ '--at': index }}>
          <Name
            id={cellId(each)}
            person={each}
            muted={isMuted(state, each.participantid)}
            active={index === row && column === NAME}
            onOpen={() => {
              move(index, NAME);
              onOpen(each);
            }}
            {...(mayMute && {
              onMute: () => {
                // The keys go on in the grid.
                scroller.current?.focus();
                onMute(each);
              },
            })}
          />
          {columns.map(({ person: speaker, index: place }) => (
            <Cell
              key={speaker.participantid}
              id={cellId(each, speaker)}
              place={place}
              listener={each}
              speaker={speaker}
              hears={hears(state, each.participantid, speaker.participantid)}
              pending={pending.has(pairOf({ from: speaker.participantid, to: each.participantid }))}
              active={index === row && place === column}
              onPress={() => {
                move(index, place);
                press(each, speaker);
              }}
            />
          ))}
        </div>
      ))}
    </div>
  );
}

/** Those in sight, with their places. */
function windowOf(people: readonly Person[], first: number, count: number): { person: Person; index: number }[] {
  const from = Math.max(0, Math.min(first, people.length - 1) - SPARE);
  return people.slice(from, first + count + SPARE).map((person, offset) => ({ person, index: from + offset }));
}

interface NameProps {
  readonly id: string;
  readonly person: Person;
  readonly muted: boolean;
  readonly active: boolean;
  readonly onOpen: () => void;
  /** Absent where the person may not. */
  readonly onMute?: () => void;
}

function Name({ id, person, muted, active, onOpen, onMute }: NameProps) {
  const { label, state, talking, moderator } = person;
  const mute = words(muted ? 'unmuteName' : 'muteName', { name: label });
  return (
    <div
      id={id}
      class={`name${active ? ' active' : ''}${talking ? ' talks' : ''}`}
      role="rowheader"
      aria-colindex={1}
      title={label}
      onClick={onOpen}
    >
      <span class="label">
        {moderator && (
          <span title={words('moderator')}>
            ★ <span class="unseen">{words('moderator')} </span>
          </span>
        )}
        {label}
        {state !== 'connected' && <span class="quiet"> · {stateText(state)}</span>}
        {talking && <span class="unseen"> {words('talks')}</span>}
      </span>
      {onMute !== undefined && (
        <button
          type="button"
          class={muted ? 'quiet muted' : 'quiet'}
          // The grid is one stop of the keyboard; `m` does the same.
          tabIndex={-1}
          aria-label={mute}
          title={mute}
          onClick={(event) => {
            event.stopPropagation();
            onMute();
          }}
        >
          <Microphone off={muted} />
        </button>
      )}
    </div>
  );
}

function Microphone({ off }: { readonly off: boolean }) {
  return (
    <svg viewBox="0 0 16 16" aria-hidden="true">
      <rect x="6" y="1.5" width="4" height="7.5" rx="2" />
      <path d="M3.5 7.5a4.5 4.5 0 0 0 9 0M8 12v2.5" />
      {off && <path d="M2 14 14 2" />}
    </svg>
  );
}

const STATES = ['calling', 'ringing', 'connected', 'hold'] as const;

/** The state of a participant in words. */
export function stateText(state: string): string {
  const known = STATES.find((each) => each === state);
  return known === undefined ? state : words(known);
}

interface CellProps {
  readonly id: string;
  readonly place: number;
  readonly listener: Person;
  readonly speaker: Person;
  readonly hears: boolean;
  readonly pending: boolean;
  readonly active: boolean;
  readonly onPress: () => void;
}

function Cell({ id, place, listener, speaker, hears: isHeard, pending, active, onPress }: CellProps) {
  const isSelf = listener === speaker;
  const text = isSelf
    ? listener.label
    : words(isHeard ? 'hears' : 'hearsNot', { listener: listener.label, speaker: speaker.label });
  const kind = isSelf ? 'self' : isHeard ? 'on' : 'off';
  const more = `${active ? ' active' : ''}${isHeard && speaker.talking ? ' talks' : ''}${pending ? ' pending' : ''}`;
  return (
    <div
      id={id}
      class={`cell ${kind}${more}`}
      role="gridcell"
      aria-colindex={place + 2}
      aria-selected={isSelf ? undefined : isHeard}
      aria-busy={pending}
      aria-label={text}
      title={text}
      style={{ '--at': place }}
      onClick={onPress}
    >
      {isSelf ? '' : isHeard ? '✓' : '✕'}
    </div>
  );
}
