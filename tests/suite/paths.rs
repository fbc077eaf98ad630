//! Global intersection analysis.
use percale::geometry::Mesh;
use percale::scene::tangles;
use percale::untangle::{Rest, analyse};

#[test]
fn look() {
    for name in tangles::TYPES {
        for cells in [4, 5, 8, 20] {
            let t = tangles::of_type(name, cells).unwrap();
            let mesh = Mesh::new(t.positions.len(), t.faces.clone()).unwrap();
            let a = analyse(&mesh, &t.positions, Rest::Parameters(&t.uv)).unwrap();
            println!("{name} {cells}: {} crossings {} segments", a.segments.crossings.len(), a.segments.segments.len());
            for c in &a.contours {
                println!("   {} {} touch {} length {:.3}", c.kind, c.segment_count, c.is_touch, c.length);
                for p in &a.paths[c.paths.start as usize..c.paths.end as usize] {
                    println!("      {} {} loops {:?} inside {}", p.kind.name(), p.segments.len(), p.loop_vertices(), match &p.inside { percale::untangle::Inside::Vertices(v) => v.len().to_string(), o => format!("{o:?}")});
                }
            }
        }
    }
}
