import { useQuery } from '@tanstack/react-query';
import { call } from './client.ts';

/** Whether the portal mails links for a new password; undefined until that is known. */
export function useResetAvailable(): boolean | undefined {
  const { data } = useQuery({
    queryKey: ['password-resets'],
    queryFn: ({ signal }) => call<{ is_available: boolean }>('GET', '/password-resets', { signal }),
    staleTime: Number.POSITIVE_INFINITY,
  });
  return data?.is_available;
}
