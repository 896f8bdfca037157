/** What the checker says of a text. */
import type { Problem } from '../../authors/scenario-types.ts';
import { words } from '../../words/scenarios.ts';
import { mistakesOf, mistakeText } from './scenario-list.tsx';

export interface ProblemsProps {
  readonly problems: readonly Problem[];
  readonly onOpen: (line: number) => void;
}

export function Problems({ problems, onOpen }: ProblemsProps) {
  const mistakes = mistakesOf({ problems });
  const warnings = problems.length - mistakes;
  return (
    <section class="checked" aria-label={words('problems')}>
      <p role="status" class={mistakes > 0 ? 'mistake' : 'quiet'}>
        {mistakes === 0 ? words('noMistakes') : mistakeText(mistakes)}
        {warnings > 0 && `, ${words('warnings', { n: warnings })}`}
      </p>
      <ul>
        {problems.map(({ line, message, suggestion, severity, file }, index) => (
          <li key={index}>
            <button type="button" class="quiet" disabled={file !== undefined} onClick={() => onOpen(line)}>
              <span class={severity === undefined ? 'badge bad' : 'badge warn'}>
                {file ?? words('line', { n: line })}
                {severity === undefined ? '' : ` · ${words('warning')}`}
              </span>{' '}
              {message}
              {suggestion !== undefined && <span class="hint"> {suggestion}</span>}
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}
