//! Trees built from the leaves up: neighbours meet first.

/// A step of a member to the root: a node, and the child from which the member comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Step {
    pub(super) node: usize,
    pub(super) place: usize,
}

/// A tree in which node i of a level has children f i, f i + 1, ... of the level below; the members
/// are the lowest level. A child that would be alone at a node skips that node.
///
/// ```text
///            node 4                fan-ins 3, 2, 2; 8 members
///        ┌──────┴─────┐
///      node 3         │            the third node of the first level
///    ┌───┴────┐       │            would be alone on the second
///  node 0   node 1  node 2
///  ┌─┼─┐    ┌─┼─┐    ┌┴┐
///  0 1 2    3 4 5    6 7
/// ```
#[derive(Debug)]
pub(super) struct Tree {
    /// For each node its children, each as the lowest member below it.
    nodes: Vec<Vec<usize>>,
    paths: Vec<Vec<Step>>,
}

impl Tree {
    /// Returns a tree for `members` with these fan-ins from the leaves up. Their product must be at
    /// least `members`.
    pub(super) fn new(members: usize, fan_ins: &[usize]) -> Self {
        let mut tree = Tree { nodes: Vec::new(), paths: vec![Vec::new(); members] };
        let mut width = 1;
        for &fan_in in fan_ins {
            for first in (0..members).step_by(width * fan_in) {
                let end = members.min(first + width * fan_in);
                let children: Vec<usize> = (first..end).step_by(width).collect();
                if children.len() > 1 {
                    let node = tree.nodes.len();
                    for (member, path) in (first..end).zip(&mut tree.paths[first..end]) {
                        path.push(Step { node, place: (member - first) / width });
                    }
                    tree.nodes.push(children);
                }
            }
            width *= fan_in;
        }
        tree
    }

    pub(super) fn members(&self) -> usize {
        self.paths.len()
    }

    /// Returns the nodes from `member` to the root, inclusive.
    #[inline]
    pub(super) fn path(&self, member: usize) -> &[Step] {
        &self.paths[member]
    }

    /// Returns the children of all nodes, from the leaves up, each as the lowest member below it.
    pub(super) fn nodes(&self) -> &[Vec<usize>] {
        &self.nodes
    }

    /// Returns the number of children that meet at `node`.
    #[inline]
    pub(super) fn size(&self, node: usize) -> usize {
        self.nodes[node].len()
    }

    /// Returns the lowest member below each node.
    pub(super) fn homes(&self) -> impl Iterator<Item = usize> {
        self.nodes.iter().map(|children| children[0])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tree_of_the_drawing() {
        let tree = Tree::new(8, &[3, 2, 2]);
        let nodes: [&[usize]; 5] = [&[0, 1, 2], &[3, 4, 5], &[6, 7], &[0, 3], &[0, 6]];
        assert_eq!(tree.nodes(), nodes);
        let path = |member| tree.path(member).iter().map(|s| (s.node, s.place)).collect::<Vec<_>>();
        assert_eq!(path(4), [(1, 1), (3, 1), (4, 0)]);
        assert_eq!(path(7), [(2, 1), (4, 1)]);
    }

    #[test]
    fn all_paths_end_at_one_root() {
        for members in 2..100 {
            let tree = Tree::new(members, &[3, 4, 2, 5]);
            let root = tree.nodes().len() - 1;
            assert!((0..members).all(|m| tree.path(m).last().map(|s| s.node) == Some(root)));
        }
    }
}
