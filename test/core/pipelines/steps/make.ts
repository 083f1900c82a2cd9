export default ({ rows }: { rows: number }) => ({ list: Array.from({ length: rows }, (_, i) => i), n: rows });
