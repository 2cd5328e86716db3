//! Correlation of columns: it shows which columns of a table were measured on the same walks. A crowded walk is crowded
//! for every policy, so their shares of all traffic rise and fall together from row to row. Ours do. The paper's circle
//! does not correlate with its other columns.

use super::A3Row;
use serde::Serialize;

/// Least number of avatar counts for a correlation: two points always lie on a line.
const COUNTS_MIN: usize = 3;

/// The correlation of two policies over the avatar counts.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ColumnCorrelation {
    /// Name of the first policy.
    pub policy: String,
    /// Name of the second policy.
    pub other: String,
    /// Correlation of their traffic as shares of `none`; null for fewer than three counts, or where one does not vary.
    pub correlation: Option<f64>,
    /// The same for the paper's table, over the same counts; null if it lacks one of them.
    pub paper_correlation: Option<f64>,
}

/// Every pair of policies besides `none`, in the order of the rows.
pub(super) fn pairs(rows: &[A3Row]) -> Vec<ColumnCorrelation> {
    let mut policies: Vec<&str> = Vec::new();
    for row in rows {
        if row.policy != "none" && !policies.contains(&row.policy.as_str()) {
            policies.push(&row.policy);
        }
    }
    let mut pairs = Vec::new();
    for (at, policy) in policies.iter().enumerate() {
        pairs.extend(policies[at + 1..].iter().map(|other| pair(rows, policy, other)));
    }
    pairs
}

fn pair(rows: &[A3Row], policy: &str, other: &str) -> ColumnCorrelation {
    ColumnCorrelation {
        policy: policy.into(),
        other: other.into(),
        correlation: between(rows, policy, other, |it| Some(it.average)),
        paper_correlation: between(rows, policy, other, |it| it.paper_average.map(f64::from)),
    }
}

fn between(rows: &[A3Row], policy: &str, other: &str, average: fn(&A3Row) -> Option<f64>) -> Option<f64> {
    correlation(&shares(rows, policy, average)?, &shares(rows, other, average)?)
}

/// Shares of all traffic that `policy` carries, per avatar count; `None` if one of them is unknown.
fn shares(rows: &[A3Row], policy: &str, average: fn(&A3Row) -> Option<f64>) -> Option<Vec<f64>> {
    let of = |name: &str| rows.iter().filter(|it| it.policy == name).map(average).collect::<Option<Vec<_>>>();
    Some(of(policy)?.iter().zip(of("none")?).map(|(ours, all)| ours / all).collect())
}

/// Pearson's coefficient; `None` if it is undefined.
fn correlation(one: &[f64], other: &[f64]) -> Option<f64> {
    let count = one.len().min(other.len());
    if count < COUNTS_MIN {
        return None;
    }
    let mean = |it: &[f64]| it.iter().sum::<f64>() / count as f64;
    let (mean_one, mean_other) = (mean(one), mean(other));
    let product = |a: &[f64], of_a: f64, b: &[f64], of_b: f64| {
        a.iter().zip(b).map(|(a, b)| (a - of_a) * (b - of_b)).sum::<f64>()
    };
    let spread = product(one, mean_one, one, mean_one) * product(other, mean_other, other, mean_other);
    let together = product(one, mean_one, other, mean_other) / spread.sqrt();
    together.is_finite().then_some(together)
}

#[cfg(test)]
mod tests {
    use super::super::paper;
    use super::*;

    /// The paper's own table as if we had measured it.
    fn table(counts: &[u32]) -> Vec<A3Row> {
        let row = |avatars: u32, policy: &&str| {
            let (average, maximum) = paper::printed(avatars, policy).unwrap();
            A3Row {
                avatars,
                policy: (*policy).into(),
                average: average.into(),
                average_spread: 0.0,
                maximum: maximum.into(),
                average_with_headers: None,
                maximum_with_headers: None,
                paper_average: Some(average),
                paper_maximum: Some(maximum),
            }
        };
        counts.iter().flat_map(|&avatars| paper::POLICIES.iter().map(move |it| row(avatars, it))).collect()
    }

    #[test]
    fn the_papers_circle_correlates_with_no_other_column() {
        let all_but_175: Vec<u32> = paper::AVATARS.into_iter().filter(|&it| it != 175).collect();
        let pairs = pairs(&table(&all_but_175));
        assert_eq!(pairs.len(), 6);
        for it in pairs {
            let paper = it.paper_correlation.unwrap();
            assert_eq!(it.correlation, it.paper_correlation);
            if it.policy == "circle" {
                assert!(paper < 0.5, "{it:?}");
            } else {
                assert!(0.9 < paper, "{it:?}");
            }
        }
    }

    /// With 175 avatars its field of view and A³ were measured on other walks than its attenuated circle.
    #[test]
    fn neither_does_the_attenuated_circle_with_the_odd_row() {
        for it in pairs(&table(&paper::AVATARS)).iter().filter(|it| it.policy == "circle-attenuated") {
            assert!(it.paper_correlation.unwrap() < 0.5, "{it:?}");
        }
    }

    #[test]
    fn a_correlation_needs_three_points_that_vary() {
        assert_eq!(correlation(&[1.0, 2.0], &[1.0, 2.0]), None);
        assert_eq!(correlation(&[1.0, 1.0, 1.0], &[1.0, 2.0, 3.0]), None);
        assert_eq!(correlation(&[], &[]), None);
        assert_eq!(correlation(&[1.0, 2.0, 4.0], &[2.0, 4.0, 8.0]), Some(1.0));
        assert_eq!(correlation(&[1.0, 2.0, 3.0], &[1.0, 0.0, -1.0]), Some(-1.0));
    }
}
