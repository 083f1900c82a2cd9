export default ({ values }: { values: readonly number[] }) => ({ total: values.reduce((a, b) => a + b, 0) });
