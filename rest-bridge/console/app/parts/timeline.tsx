/** The milestones of an operation, with the time since its request. */
import { clock } from '../lib/format.ts';
import { useOperation } from '../stores/operation-record.ts';
import { words } from '../words/operations.ts';
import { AnswerFacts, Facts } from './facts.tsx';
import { Problem } from './problem.tsx';

interface Point {
  readonly ts: number;
  readonly title: string;
  readonly about: string | undefined;
  readonly kind: '' | 'good' | 'bad' | 'answer';
}

export interface TimelineProps {
  readonly id: string;
  /** It is read among the operations that the person asked for. */
  readonly own?: boolean;
}

export function Timeline({ id, own }: TimelineProps) {
  const { data: record, problem, reload } = useOperation(id, own);
  if (record === undefined) return problem === undefined ? null : <Problem error={problem} retry={reload} />;
  const points: Point[] = record.milestones.map(({ milestone, ts, last_response }) => ({
    ts,
    title: milestoneText(milestone),
    about: last_response?.replace(/^SIP\/2\.0 /, ''),
    kind: last_response === undefined ? '' : / [123]\d\d /.test(last_response) ? 'good' : 'bad',
  }));
  if (record.responsets !== undefined)
    points.push({ ts: record.responsets, title: words('answered'), about: undefined, kind: 'answer' });
  if (record.endts !== undefined)
    points.push({
      ts: record.endts,
      title: words('finished'),
      about: [record.result, record.error?.message].filter(Boolean).join(': '),
      kind: record.result === 'ok' ? 'good' : 'bad',
    });
  points.sort((a, b) => a.ts - b.ts);
  return (
    <>
      <ol class="timeline" aria-label={words('timeline')}>
        <Step at={0} title={words('asked')} about={clock(record.startts)} kind="" />
        {points.map((point, index) => (
          <Step key={index} at={point.ts - record.startts} {...point} />
        ))}
        {record.endts === undefined && <Step title={words('running')} about={undefined} kind="answer" />}
      </ol>
      <Facts facts={[[words('id'), <code>{record.id}</code>]]} />
      {record.fields !== undefined && (
        <details>
          <summary>{words('fields')}</summary>
          <AnswerFacts answer={record.fields} />
        </details>
      )}
    </>
  );
}

interface StepProps extends Omit<Point, 'ts'> {
  /** Milliseconds since the request. */
  readonly at?: number;
}

function Step({ at, title, about, kind }: StepProps) {
  return (
    <li class={kind}>
      <span class="at">{at === undefined ? '' : `+${(at / 1000).toFixed(2)} s`}</span>
      <span>
        <strong>{title}</strong>
        {about !== undefined && about !== '' && <span class="quiet"> {about}</span>}
      </span>
    </li>
  );
}

const PARTIES = { F: 'partyF', T: 'partyT', back: 'partyBack' } as const;
const STEPS = { initiated: 'initiated', provisional: 'provisional', final: 'final' } as const;

/** `F_final` and the like in words; others as they are. */
function milestoneText(milestone: string): string {
  const [, party = '', step = ''] = /^(F|T|back)[_ ]?(initiated|provisional|final)$/.exec(milestone) ?? [];
  if (party === '') return milestone in STEPS ? words(STEPS[milestone as keyof typeof STEPS]) : milestone;
  return `${words(PARTIES[party as keyof typeof PARTIES])}: ${words(STEPS[step as keyof typeof STEPS])}`;
}
